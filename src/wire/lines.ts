// Bytes as they come, cut into lines of a bounded length: a line without end is not collected.
const NEWLINE = 0x0a;

/** Lines without their end. `fault` makes what is thrown of a sentence. */
export async function* splitLines(
  chunks: AsyncIterable<Uint8Array>,
  lineMaximum: number,
  fault: (sentence: string) => Error,
): AsyncGenerator<Uint8Array> {
  let parts: Uint8Array[] = [];
  let held = 0;
  for await (const chunk of chunks) {
    let rest = chunk;
    for (let end = rest.indexOf(NEWLINE); end >= 0; end = rest.indexOf(NEWLINE)) {
      yield Buffer.concat([...parts, rest.subarray(0, end)]);
      parts = [];
      held = 0;
      rest = rest.subarray(end + 1);
    }
    parts.push(rest);
    held += rest.length;
    if (held > lineMaximum) throw fault(`a line of more than ${lineMaximum} bytes`);
  }
  if (held > 0) throw fault('cut off: the last line has no end');
}
