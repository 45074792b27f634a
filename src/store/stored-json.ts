// JSON that we stored ourselves. That it does not parse means that somebody else has written there.
import { StoreFault } from './port.ts';

export function parseStored<Value>(text: string): Value {
  try {
    return JSON.parse(text) as Value;
  } catch (error) {
    // The parser's message quotes what it read.
    throw new StoreFault('corrupt', 'stored JSON does not parse', { cause: (error as Error).name });
  }
}
