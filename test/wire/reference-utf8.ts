// UTF-8 as the table of RFC 3629 section 4 has it, row by row: slow, and written without a look at the strict reader,
// to be compared with it.

interface Row {
  lead: readonly [least: number, most: number];
  tails: readonly (readonly [least: number, most: number])[];
}

const TAIL = [0x80, 0xbf] as const;

const TABLE: readonly Row[] = [
  { lead: [0x00, 0x7f], tails: [] },
  { lead: [0xc2, 0xdf], tails: [TAIL] },
  { lead: [0xe0, 0xe0], tails: [[0xa0, 0xbf], TAIL] },
  { lead: [0xe1, 0xec], tails: [TAIL, TAIL] },
  { lead: [0xed, 0xed], tails: [[0x80, 0x9f], TAIL] },
  { lead: [0xee, 0xef], tails: [TAIL, TAIL] },
  { lead: [0xf0, 0xf0], tails: [[0x90, 0xbf], TAIL, TAIL] },
  { lead: [0xf1, 0xf3], tails: [TAIL, TAIL, TAIL] },
  { lead: [0xf4, 0xf4], tails: [[0x80, 0x8f], TAIL, TAIL] },
];

/** Bits of the code point that the first byte carries, by the number of bytes that follow it. */
const LEAD_MASKS = [0x7f, 0x1f, 0x0f, 0x07];

/** The code points, or undefined where the bytes are no UTF-8. */
export function decodeUtf8(bytes: Uint8Array): number[] | undefined {
  const points: number[] = [];
  let at = 0;
  while (at < bytes.length) {
    const lead = bytes[at] as number;
    const row = TABLE.find(({ lead: [least, most] }) => least <= lead && lead <= most);
    if (row === undefined) return undefined;
    let point = lead & (LEAD_MASKS[row.tails.length] as number);
    for (const [index, [least, most]] of row.tails.entries()) {
      const tail = bytes[at + 1 + index];
      if (tail === undefined || tail < least || tail > most) return undefined;
      point = point * 64 + (tail & 0x3f);
    }
    points.push(point);
    at += 1 + row.tails.length;
  }
  return points;
}
