// npm run check:migrations — do the migrations still make what the drizzle schemas say? drizzle-kit is asked for the next
// migration in a copy of this folder; there must be none. Needs no database and leaves nothing behind.
import { spawnSync } from 'node:child_process';
import { cpSync, mkdtempSync, readFileSync, readdirSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, relative } from 'node:path';
import { fileURLToPath } from 'node:url';

const root = fileURLToPath(new URL('..', import.meta.url));
const kit = join(root, 'node_modules', 'drizzle-kit', 'bin.cjs');
const dialects = { postgres: 'postgresql', sqlite: 'sqlite' };

let failed = false;
for (const [engine, dialect] of Object.entries(dialects)) {
  const folder = mkdtempSync(join(tmpdir(), 'mwp-migrations-'));
  try {
    cpSync(join(root, 'drizzle', engine), folder, { recursive: true });
    const before = migrations(folder);
    const options = [
      '--dialect',
      dialect,
      '--schema',
      `./src/store/${engine}/schema.ts`,
      '--out',
      relative(root, folder),
    ];
    const { status, stdout, stderr } = spawnSync(process.execPath, [kit, 'generate', ...options], {
      cwd: root,
      encoding: 'utf8',
      stdio: ['ignore', 'pipe', 'pipe'], // a rename makes it ask; without an answer it fails, which is right
    });
    if (status !== 0) fail(`drizzle-kit failed for ${engine}:\n${stdout}${stderr}`);
    for (const name of migrations(folder).filter((file) => !before.includes(file))) {
      fail(
        `${engine}: the schema has moved on; npm run db:generate would add\n${readFileSync(join(folder, name), 'utf8')}`,
      );
    }
    const journal = JSON.parse(readFileSync(join(root, 'drizzle', engine, 'meta', '_journal.json'), 'utf8'));
    const journaled = journal.entries.map(({ tag }) => `${tag}.sql`);
    if (journaled.join() !== before.join()) fail(`${engine}: journal and files differ: ${journaled} / ${before}`);
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}
process.exitCode = failed ? 1 : 0;

function migrations(folder) {
  return readdirSync(folder)
    .filter((name) => name.endsWith('.sql'))
    .sort();
}

function fail(sentence) {
  failed = true;
  console.error(sentence);
}
