// What this package says of itself. It stands beside the folders of both the sources and what is built of them.
import { readFileSync } from 'node:fs';

interface PackageJson {
  version: string;
  description: string;
}

const text = readFileSync(new URL('../../package.json', import.meta.url), 'utf8');
export const { version: VERSION, description: DESCRIPTION } = JSON.parse(text) as PackageJson;
