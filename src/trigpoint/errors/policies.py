"""Errors of policies and their revisions."""

from __future__ import annotations

from trigpoint.errors.root import TrigpointError, shorten


class PolicyServerFailed(TrigpointError):
    """The policy server refused its part of a change to a revision; the change can be repeated."""

    code = "policy_server_failed"
    status = 502


class PolicyError(TrigpointError):
    """A policy or revision does not exist, or cannot be changed in this way."""

    code = "policy_error"
    status = 409


class PolicyNotFound(PolicyError):
    """No policy is registered under this source."""

    code = "policy_not_found"
    status = 404

    def __init__(self, source: str) -> None:
        super().__init__(f"No policy found with source '{shorten(source)}'", source=shorten(source))


class RevisionNotFound(PolicyError):
    """The policy has no revision with this id."""

    code = "revision_not_found"
    status = 404

    def __init__(self, source: str, revision_id: str) -> None:
        super().__init__(
            f"No revision '{shorten(revision_id)}' found for policy '{shorten(source)}'",
            source=shorten(source),
            revision_id=shorten(revision_id),
        )


class SectionNotFound(PolicyError):
    """The revision has no such section."""

    code = "section_not_found"
    status = 404

    def __init__(self, source: str, section_ref: str, searched: str = "") -> None:
        message = f"Section '{shorten(section_ref)}' not found in policy '{shorten(source)}'"
        super().__init__(f"{message}. {searched}" if searched else message)


class ProvisionNotFound(PolicyError):
    """The policy has no provision with this id."""

    code = "provision_not_found"
    status = 404

    def __init__(self, source: str, provision_id: str) -> None:
        super().__init__(
            f"Policy '{source}' has no provision '{shorten(provision_id)}'. `trigpoint policies provisions` lists them",
            source=source,
        )


class RevisionHasPassages(PolicyError):
    """The revision has been ingested already; `reindex` replaces its passages."""

    code = "revision_already_ingested"
    status = 409

    def __init__(self, source: str, revision_id: str) -> None:
        super().__init__(
            f"Revision {revision_id} has passages already. Set reindex to true to replace them", source=source
        )


class NotPlacedYet(PolicyError):
    """The revision's sections have not been searched for provisions yet."""

    code = "not_placed_yet"
    status = 409

    def __init__(self, source: str, revision_id: str) -> None:
        super().__init__(
            f"The sections of {revision_id} have not been read yet. The policy server does that within seconds of "
            "an upload: check that it runs, and repeat the request",
            source=source,
        )


class NoParkingStandard(PolicyError):
    """No parking standard has been entered for the revision."""

    code = "no_parking_standard"
    status = 404

    def __init__(self, source: str, revision_id: str) -> None:
        super().__init__(
            f"No parking standard is stated for {revision_id}. State one with PUT or `trigpoint policies parking`",
            source=source,
        )


class PolicyAlreadyExists(PolicyError):
    """A policy is already registered under this source."""

    code = "policy_already_exists"

    def __init__(self, source: str) -> None:
        super().__init__(f"A policy with source '{source}' already exists", source=source)


class RevisionOverlapError(PolicyError):
    """The dates collide with another revision's; nothing was changed."""

    code = "revision_overlap"

    def __init__(self, source: str, existing: str, effective_from: str) -> None:
        super().__init__(
            f"Revision dates overlap with existing revision {existing}", source=source, effective_from=effective_from
        )


class CannotDeleteSoleRevisionError(PolicyError):
    """A policy's only active revision cannot be deleted without `restore_predecessor`."""

    code = "cannot_delete_sole_revision"

    def __init__(self, source: str, revision_id: str) -> None:
        super().__init__("Cannot delete the sole active revision for a policy", source=source, revision_id=revision_id)


class CannotReindex(PolicyError):
    """A live job holds the revision."""

    code = "cannot_reindex"

    def __init__(self, source: str, revision_id: str) -> None:
        super().__init__("Revision is already processing", source=source, revision_id=revision_id, status="processing")


class NoFilePath(PolicyError):
    """The revision has no stored file that could be indexed."""

    code = "no_file_path"
    status = 422

    def __init__(self, source: str, revision_id: str) -> None:
        super().__init__(
            f"Revision {revision_id} has no stored file to index. Upload the PDF as a new revision",
            source=source,
            revision_id=revision_id,
        )


class JobLostRevision(PolicyError):
    """A job reports on a revision that another job holds, or that was given up as failed; its report is void."""

    code = "job_lost_revision"


class RegistryUnavailable(PolicyError):
    """The policy registry (Redis) cannot be reached."""

    code = "registry_unavailable"
    status = 503
