// What `mwp verify --help` prints: what is proven, and what a proof of this kind cannot show.

export const VERIFY_HELP = `mwp verify [--org SLUG] [--heads FILE] [--write-heads FILE]
mwp verify --bundle FILE [--authority-key KEY]
mwp verify --original FILE (--bundle FILE [--authority-key KEY] | --org SLUG)

Reads the database of this environment (see mwp serve --help) and changes nothing. For each Group and each log of an
Organization, in one snapshot: every Event, Command and embedded document is verified again, by its signature, by the
history of its key and by the record that admitted it; positions and revisions have no gap; both hash chains hold; each
receipt, state row, text and index column is what Events and Commands say; and no row is left that they do not account
for. Where a master key is configured, or lies in MWP_DATA_DIR, it must open the keys of the Organization's services.
Exit code 1 when anything disagrees. A key that was revoked after it signed is told and is no fault.

  --org SLUG          one Organization only
  --write-heads FILE  when there is no fault: a new FILE with position, revision and hashes of every stream
  --heads FILE        each of those, written down earlier, must still stand in today's chains

A database that was put back to an earlier state, or whose tail was cut off in all tables together, is whole in itself. Only
heads that were kept somewhere else show it.

With --bundle, a file that mwp export wrote, and no database. It tells which key of the authority signed the bundle, up to
which Registry revision the authority attests that the keys in it are complete, and the hash of the folded state.

  --bundle FILE         the file
  --authority-key KEY   base64url; the bundle must be signed by this public key

With --original, an Event or a Command that somebody kept, as it was signed: is it the one that was accepted, though its body
may be erased by now? Its signing hash must be that of the row and of the rendition in its place, its signature and admission
record hold, and the chain follow from it. Where it stands is told in words; exit code 1 with a sentence where it is not the
one. Of a database the Registry alone is proven with it, of a bundle everything.

  --original FILE   one JSON document: an Event in its canonical form, a Command as it was sent`;
