// The release that runs: what package.json says, which stands in the package root, two levels above, in `src` as in `dist`.
import { readFileSync } from 'node:fs';

const file = new URL('../../package.json', import.meta.url);

export const { version: VERSION } = JSON.parse(readFileSync(file, 'utf8')) as { version: string };
