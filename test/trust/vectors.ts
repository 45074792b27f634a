// Published edge cases as text files: what is demanded, key, signature, message. Words are hex or names of it, joined by +.
import { readFileSync } from 'node:fs';
import { hex } from './curve.ts';
import type { Judged } from './paths.ts';

export interface PublishedCase extends Judged {
  name: string;
  accept: boolean;
}

/** `file`: in the folder vectors. */
export function readVectors(file: string): PublishedCase[] {
  const names = new Map<string, string>([['-', '']]);
  const bytesOf = (words: string) => {
    const parts = words.split('+').map((word) => names.get(word) ?? word);
    if (!/^(?:[0-9a-f]{2})*$/.test(parts.join(''))) throw new Error(`${file}: neither hex nor a name: ${words}`);
    return hex(parts.join(''));
  };
  const cases: PublishedCase[] = [];
  for (const line of readFileSync(new URL(`vectors/${file}`, import.meta.url), 'utf8').split('\n')) {
    if (line === '' || line.startsWith('#')) continue;
    const [first = '', second = '', third = '', fourth = ''] = line.split(' ');
    if (second === '=') {
      names.set(first, third);
      continue;
    }
    const judged = { publicKey: bytesOf(second), signature: bytesOf(third), message: bytesOf(fourth) };
    if (first !== 'accept' && first !== 'refuse') throw new Error(`${file}: ${first}?`);
    cases.push({ ...judged, name: `${file} case ${cases.length}`, accept: first === 'accept' });
  }
  return cases;
}
