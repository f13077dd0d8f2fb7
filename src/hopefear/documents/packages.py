"""Zip files that hold a document: read with limits, written again with some members changed.

Nothing is unpacked to the disk, so that no name in the file matters there. Members that do not change are copied as
they are, without being unpacked.
"""

from __future__ import annotations

import io
import struct
import zipfile
import zlib
from collections.abc import Mapping

from hopefear.documents.encoding import LARGEST
from hopefear.errors import input_error
from hopefear.util.messages import printable

MOST = 1 << 30  # bytes of all members together
RATIO = 100  # a member may be so much smaller packed, if it has more than a megabyte
MEMBERS = 20_000
_LOCAL = struct.Struct("<4s5H3I2H")
_CENTRAL = struct.Struct("<4s6H3I5H2I")
_END = struct.Struct("<4s4H2IH")
_OLE = b"\xd0\xcf\x11\xe0"


class Package:
    """A zip file in memory."""

    def __init__(self, data: bytes, name: str) -> None:
        self._data, self._name = data, name
        if data.startswith(_OLE):
            finding = "is password-protected, or in the format used before 2007. Save it as .docx without one"
            raise input_error(name, None, finding)
        try:
            self._zip = zipfile.ZipFile(io.BytesIO(data))
            self._members = self._zip.infolist()
        except (zipfile.BadZipFile, ValueError, OSError, NotImplementedError, struct.error) as error:
            raise input_error(name, None, f"is not a complete zip file ({error}). Copy or save it again") from None
        self._check()

    def _check(self) -> None:
        total = sum(member.file_size for member in self._members)
        if len(self._members) > MEMBERS or total > MOST:
            finding = f"unpacks to {total >> 20} MB in {len(self._members)} members"
            raise input_error(
                self._name, None, f"{finding}; {MOST >> 20} MB and {MEMBERS} are the most. Make it smaller"
            )
        names = [member.filename for member in self._members]
        if len(set(names)) < len(names):
            raise input_error(self._name, None, "holds two members of the same name. Save it again")
        for member in self._members:
            if member.header_offset < 0:
                raise input_error(self._name, None, "is not a complete zip file. Copy or save it again")
            if member.file_size > (1 << 20) and member.file_size > RATIO * member.compress_size:
                finding = f"{member.filename[:60]!r} unpacks to more than {RATIO} times its size, unlike a document"
                raise input_error(self._name, None, f"{finding}. Save it again")
            if member.flag_bits & 1:
                raise input_error(self._name, None, "is password-protected. Save it without a password")

    @property
    def names(self) -> list[str]:
        """The members, in their order."""
        return [member.filename for member in self._members]

    def read(self, name: str) -> bytes:
        """A member, unpacked."""
        member = self._zip.getinfo(name)
        if member.file_size > LARGEST:
            raise input_error(self._name, None, f"{name} has more than {LARGEST >> 20} MB. Split the document")
        try:
            with self._zip.open(member) as file:
                return file.read(member.file_size)
        except (zipfile.BadZipFile, zlib.error, EOFError, ValueError, OSError, RuntimeError) as error:
            finding = f"{printable(name)} is damaged ({printable(str(error))})"
            raise input_error(self._name, None, f"{finding}. Copy or save it again") from None

    def rewritten(self, changed: Mapping[str, bytes]) -> bytes:
        """The zip file with these members in place of those of their names; the same bytes for the same content."""
        if not changed:
            return self._data
        out = io.BytesIO()
        directory: list[bytes] = []
        for member in self._members:
            start = out.tell()
            header = _LOCAL.unpack_from(self._data, member.header_offset)
            name_at = member.header_offset + _LOCAL.size
            name = self._data[name_at : name_at + header[9]]
            if member.filename in changed:
                content = changed[member.filename]
                packer = zlib.compressobj(6, zlib.DEFLATED, -15)
                packed = packer.compress(content) + packer.flush()
                method, sizes = zipfile.ZIP_DEFLATED, (zlib.crc32(content), len(packed), len(content))
            else:
                at = name_at + header[9] + header[10]
                packed = self._data[at : at + member.compress_size]
                method, sizes = member.compress_type, (member.CRC, member.compress_size, member.file_size)
            flags = member.flag_bits & ~0x08  # the sizes stand before the content
            times = header[4], header[5]
            out.write(_LOCAL.pack(b"PK\3\4", 20, flags, method, *times, *sizes, len(name), 0) + name + packed)
            made_by = member.create_version | member.create_system << 8
            directory.append(
                _CENTRAL.pack(
                    *(b"PK\1\2", made_by, 20, flags, method, *times, *sizes, len(name), 0, len(member.comment), 0),
                    *(member.internal_attr, member.external_attr, start),
                )
                + name
                + member.comment
            )
        start = out.tell()
        central = b"".join(directory)
        count = len(directory)
        comment = self._zip.comment
        out.write(central + _END.pack(b"PK\5\6", 0, 0, count, count, len(central), start, len(comment)) + comment)
        return out.getvalue()
