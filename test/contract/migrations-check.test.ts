// `npm run check:migrations` says yes to what is there, and no as soon as a schema moves on without a migration.
import { spawnSync } from 'node:child_process';
import { cpSync, mkdirSync, mkdtempSync, readFileSync, readdirSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';

const root = fileURLToPath(new URL('../../', import.meta.url));

describe('the check of the migrations', () => {
  const copy = mkdtempSync(join(tmpdir(), 'mwp-check-'));
  beforeAll(() => {
    cpSync(join(root, 'drizzle'), join(copy, 'drizzle'), { recursive: true });
    for (const engine of ['postgres', 'sqlite']) {
      mkdirSync(join(copy, 'src/store', engine), { recursive: true });
      cpSync(join(root, 'src/store', engine, 'schema.ts'), join(copy, 'src/store', engine, 'schema.ts'));
    }
    cpSync(join(root, 'package.json'), join(copy, 'package.json'));
    symlinkSync(join(root, 'node_modules'), join(copy, 'node_modules'));
  });
  afterAll(() => rmSync(copy, { recursive: true, force: true }));

  const check = () => spawnSync(process.execPath, [join(copy, 'drizzle/check.mjs')], { encoding: 'utf8' });
  const files = () => readdirSync(join(copy, 'drizzle'), { recursive: true }).toSorted();

  it('what is there agrees, and nothing is left behind', () => {
    const before = files();
    expect(check()).toMatchObject({ status: 0, stderr: '' });
    expect(files()).toEqual(before);
  });

  it.each(['postgres', 'sqlite'])(
    'a column that %s has no migration for is noticed, and not written down',
    (engine) => {
      const before = files();
      const schema = join(copy, 'src/store', engine, 'schema.ts');
      const text = readFileSync(schema, 'utf8');
      const [column] = /^ {4}commitment: \w+\('commitment'\)/m.exec(text) ?? [];
      writeFileSync(schema, text.replace(`${column}`, `${column?.replaceAll('commitment', 'planted')},\n${column}`));
      const { status, stderr } = check();
      writeFileSync(schema, text);
      expect(status).toBe(1);
      expect(stderr).toMatch(/planted/);
      expect(files()).toEqual(before);
    },
  );

  it('a migration file that the journal does not name is noticed', () => {
    const stray = join(copy, 'drizzle/sqlite/0009_stray.sql');
    writeFileSync(stray, 'SELECT 1;');
    const { status, stderr } = check();
    rmSync(stray);
    expect(status).toBe(1);
    expect(stderr).toMatch(/0009_stray/);
  });
});
