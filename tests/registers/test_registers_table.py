"""Registers are data: the shipped table, the operator's own file, and what an authority's references look like."""

from __future__ import annotations

from pathlib import Path
from typing import get_args

import pytest

from trigpoint.config import Settings, load_settings
from trigpoint.errors import ConfigurationError, InvalidReference, UnknownAuthority
from trigpoint.registers.directory import open_register
from trigpoint.registers.entries import Software, load_registers

ROW = (
    '[[register]]\nauthority = "westcote"\nname = "Westcote"\nsoftware = "idox"\naddress = "https://west.example/pa/"\n'
)


def test_every_example_is_a_reference_of_its_authority(settings: Settings) -> None:
    table = load_registers(settings)
    assert len(table.entries) > 35
    for entry in table.entries.values():
        if entry.example:
            assert entry.check_reference(entry.example) == entry.example.upper()
        assert entry.tried


def test_all_software_that_rows_may_name_can_be_read(settings: Settings, tmp_path: Path) -> None:
    for software in set(get_args(Software)) - {"other"}:
        registers = tmp_path / f"{software}.toml"
        registers.write_text(ROW.replace("idox", software), encoding="utf-8")
        open_register(settings.model_copy(update={"registers_file": registers}), "westcote")


def test_the_default_register_keeps_the_contracts_pattern_and_address(settings: Settings) -> None:
    entry = load_registers(settings).get(None)
    assert entry.address == settings.cherwell_portal_url
    assert entry.check_reference("25/01178/REM") == "25/01178/REM"
    for wrong in ("25/01178/rem", " 25/01178/REM", "PA24/00001", "25/01178/REMAX"):
        with pytest.raises(InvalidReference, match=r"Expected format: YY/NNNNN/XXX"):
            entry.check_reference(wrong)


def test_authorities_are_found_by_slug_and_by_name(settings: Settings) -> None:
    table = load_registers(settings)
    assert table.get("york") is table.get("City of York Council") is table.get("York")
    with pytest.raises(UnknownAuthority, match=r"No register is known for 'atlantis'.*REGISTERS_FILE"):
        table.get("atlantis")


def test_a_register_that_cannot_be_read_says_why_and_what_to_do(settings: Settings) -> None:
    with pytest.raises(UnknownAuthority, match=r"it runs NEC Assure.*Open https://planning\.birmingham.*--documents"):
        open_register(settings, "birmingham")
    with pytest.raises(UnknownAuthority, match=r"robots\.txt"):
        open_register(settings, "tower-hamlets")


def test_a_file_adds_and_replaces_registers(tmp_path: Path) -> None:
    file = tmp_path / "own.toml"
    file.write_text('default = "westcote"\n' + ROW + ROW.replace("westcote", "york"))
    table = load_registers(load_settings(trigpoint_data_dir=tmp_path, registers_file=file))
    assert table.get(None).address == "https://west.example/pa"
    assert table.get("york").name == "Westcote"
    assert table.get("leeds").software == "idox"


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("[[register", "is not TOML"),
        (ROW.replace("westcote", "West Cote"), "not a slug"),
        (ROW.replace("https://", "ftp://"), "not an http:// or https:// address"),
        (ROW + 'reference = "("', "not a regular expression"),
        (ROW.replace("idox", "northgate"), "software"),
        ('default = "nowhere"\n' + ROW, "nowhere"),
        (ROW.replace("[[register]]", "[[registers]]"), "unknown 'registers'"),
        ("register = 3", r"expected \[\[register\]\]"),
    ],
)
def test_a_bad_file_stops_the_start_and_names_the_fault(text: str, said: str, tmp_path: Path) -> None:
    file = tmp_path / "own.toml"
    file.write_text(text)
    with pytest.raises(ConfigurationError, match=said):
        load_registers(load_settings(trigpoint_data_dir=tmp_path, registers_file=file))
