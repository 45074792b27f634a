// The `uri` format as RFC 3986 section 3 writes it: scheme, hier-part, query, fragment, every percent sign followed
// by two hex digits. One anchored expression without nested repetition, so a hostile text costs linear time.

const UNRESERVED_AND_SUBDELIMS = "A-Za-z0-9._~!$&'()*+,;=\\-";
const PERCENT = '%[0-9A-Fa-f]{2}';
const run = (extra: string) =>
  `[${UNRESERVED_AND_SUBDELIMS}${extra}]*(?:${PERCENT}[${UNRESERVED_AND_SUBDELIMS}${extra}]*)*`;

const SEGMENT = run(':@');
const SEGMENT_NOT_EMPTY = `(?:[${UNRESERVED_AND_SUBDELIMS}:@]|${PERCENT})${SEGMENT}`;

const H16 = '[0-9A-Fa-f]{1,4}';
const OCTET = '(?:25[0-5]|2[0-4][0-9]|1[0-9]{2}|[1-9]?[0-9])'; // no leading zero
const LS32 = `(?:${H16}:${H16}|${OCTET}(?:\\.${OCTET}){3})`;
const IPV6 = [
  `(?:${H16}:){6}${LS32}`,
  `::(?:${H16}:){5}${LS32}`,
  `(?:${H16})?::(?:${H16}:){4}${LS32}`,
  `(?:(?:${H16}:){0,1}${H16})?::(?:${H16}:){3}${LS32}`,
  `(?:(?:${H16}:){0,2}${H16})?::(?:${H16}:){2}${LS32}`,
  `(?:(?:${H16}:){0,3}${H16})?::${H16}:${LS32}`,
  `(?:(?:${H16}:){0,4}${H16})?::${LS32}`,
  `(?:(?:${H16}:){0,5}${H16})?::${H16}`,
  `(?:(?:${H16}:){0,6}${H16})?::`,
].join('|');
const IP_FUTURE = `[Vv][0-9A-Fa-f]+\\.[${UNRESERVED_AND_SUBDELIMS}:]+`;
const IP_LITERAL = `\\[(?:${IPV6}|${IP_FUTURE})\\]`;
const AUTHORITY = `(?:${run(':')}@)?(?:${IP_LITERAL}|${run('')})(?::[0-9]*)?`;

const HIER_PART = `(?://${AUTHORITY}(?:/${SEGMENT})*|/(?:${SEGMENT_NOT_EMPTY}(?:/${SEGMENT})*)?|${SEGMENT_NOT_EMPTY}(?:/${SEGMENT})*|)`;
const TAIL = run(':@/?');
const URI = new RegExp(`^[A-Za-z][A-Za-z0-9+.-]*:${HIER_PART}(?:\\?${TAIL})?(?:#${TAIL})?$`);

// Most identifiers are plain `urn:` names; they need no grammar.
const PLAIN_URN = /^urn:[A-Za-z0-9._:-]+$/;

/** MWP-FND-008a: a complete absolute URI; relative references and IRIs are not. */
export function isUri(text: string): boolean {
  return PLAIN_URN.test(text) || URI.test(text);
}
