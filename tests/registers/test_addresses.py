"""The address of an application's page names its register and reference, or says what to do."""

from __future__ import annotations

import pytest

from trigpoint.config import load_settings
from trigpoint.errors import InvalidReference, UnknownAuthority
from trigpoint.registers.addresses import application_at, is_address
from trigpoint.registers.entries import load_registers

CHERWELL = "planningregister.cherwell.gov.uk"


@pytest.mark.parametrize(
    "address",
    [
        f"https://{CHERWELL}/Planning/Display/25/01178/REM",
        f"http://{CHERWELL.upper()}/Planning/Display/25/01178/rem/",
        f"https://{CHERWELL}/Planning/Display?reference=25%2F01178%2FREM&tab=documents",
        f" https://{CHERWELL}/Planning/Display/25%2F01178%2FREM#documents ",
    ],
)
def test_a_reference_is_found_in_path_and_query(address: str) -> None:
    assert is_address(address)
    entry, reference = application_at(address, load_registers(load_settings()))
    assert (entry.authority, reference) == ("cherwell", "25/01178/REM")


@pytest.mark.parametrize("text", ["25/01178/REM", "P/2026/0515", "REF www.example", ""])
def test_a_reference_is_no_address(text: str) -> None:
    assert not is_address(text)


@pytest.mark.parametrize(
    ("address", "said"),
    [
        ("https://nowhere.example/25/01178/REM", "No register is known at nowhere.example"),
        (f"https://{CHERWELL}.evil.example/Planning/Display/25/01178/REM", "No register is known"),
        (f"https://{CHERWELL}/Search/Results", "does not contain the application's reference"),
        ("https://www.cardiffidoxcloud.wales/publicaccess/applicationDetails.do?keyVal=QQQ", "copy the reference"),
    ],
)
def test_an_address_without_one_says_what_to_do(address: str, said: str) -> None:
    with pytest.raises(InvalidReference, match=said):
        application_at(address, load_registers(load_settings()))


def test_a_register_that_no_program_can_read_is_named_with_the_way_out() -> None:
    with pytest.raises(UnknownAuthority, match="folder"):
        application_at("https://planning.ashfield.gov.uk/x/V/2026/0515", load_registers(load_settings()))
