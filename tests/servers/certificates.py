"""Certificates for local servers, signed by a new authority."""

from __future__ import annotations

import datetime
import ipaddress
from dataclasses import dataclass
from typing import TYPE_CHECKING

from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec
from servers.ports import HOST

if TYPE_CHECKING:
    from pathlib import Path
    from typing import Self


@dataclass(frozen=True, slots=True)
class Certificates:
    """Files in the PEM format.

    Parameters
    ----------
    authority : Path
        Certificate of the authority.
    certificate, key : Path
        Certificate and private key of the server.
    """

    authority: Path
    certificate: Path
    key: Path

    @classmethod
    def made(cls, directory: Path, host: str = HOST) -> Self:
        """Create new certificates in a directory, for a server at an address."""
        signer, own = (ec.generate_private_key(ec.SECP256R1()) for _ in range(2))
        ca = _name("Authority of the tests")
        told = x509.SubjectAlternativeName([x509.IPAddress(ipaddress.ip_address(host))])
        root = x509.BasicConstraints(ca=True, path_length=0)
        may_sign = x509.KeyUsage(*[False] * 5, key_cert_sign=True, crl_sign=True,
                                 encipher_only=False, decipher_only=False)  # fmt: skip
        files = cls(directory / "authority.pem", directory / "server.pem", directory / "server.key")
        known = x509.SubjectKeyIdentifier.from_public_key(signer.public_key())
        by = x509.AuthorityKeyIdentifier.from_issuer_subject_key_identifier(known)
        built = (
            (files.authority, ca, signer, [(root, True), (may_sign, True), (known, False)]),
            (files.certificate, _name(host), own, [(told, False), (by, False)]),
        )
        for path, subject, key, extensions in built:
            builder = _builder().subject_name(subject).issuer_name(ca).public_key(key.public_key())
            for extension, critical in extensions:
                builder = builder.add_extension(extension, critical)
            signed = builder.sign(signer, hashes.SHA256())
            path.write_bytes(signed.public_bytes(serialization.Encoding.PEM))
        files.key.write_bytes(
            own.private_bytes(
                serialization.Encoding.PEM,
                serialization.PrivateFormat.PKCS8,
                serialization.NoEncryption(),
            )
        )
        files.key.chmod(0o600)
        return files


def _name(common: str) -> x509.Name:
    return x509.Name([x509.NameAttribute(x509.NameOID.COMMON_NAME, common)])


def _builder() -> x509.CertificateBuilder:
    now = datetime.datetime.now(datetime.UTC)
    day = datetime.timedelta(days=1)
    builder = x509.CertificateBuilder().serial_number(x509.random_serial_number())
    return builder.not_valid_before(now - day).not_valid_after(now + day)
