import { cpSync, existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { afterEach, describe, expect, it } from 'vitest';
import { conformanceCommand, runConformance } from '../../src/cli/conformance/run.ts';

const BUNDLE = process.env['MWP_BUNDLE'] ?? resolve(import.meta.dirname, '../../../shared/mwp');
const hasBundle = existsSync(join(BUNDLE, 'conformance/manifest.json'));

const copies: string[] = [];
afterEach(() => {
  for (const folder of copies.splice(0)) rmSync(folder, { recursive: true, force: true });
});
/** A copy to spoil. */
function copyOfBundle(below = ''): { folder: string; root: string } {
  const folder = mkdtempSync(join(tmpdir(), 'mwp-bundle-'));
  copies.push(folder);
  const root = join(folder, below);
  mkdirSync(root, { recursive: true });
  for (const part of ['schemas', 'conformance', 'cryptography', 'admission']) {
    cpSync(join(BUNDLE, part), join(root, part), { recursive: true });
  }
  return { folder, root };
}
function edit(path: string, change: (text: string) => string): void {
  writeFileSync(path, change(readFileSync(path, 'utf8')));
}

describe.runIf(hasBundle)('the published bundles', () => {
  it('MWP-FND-004a, MWP-SDV-015, MWP-ADM-012: every structural, cryptography and admission evaluation comes out as published', async () => {
    const { lines, failures } = await runConformance(BUNDLE);
    expect(failures).toEqual([]);
    expect(lines).toEqual(['structural 58/58', 'cryptography 62/62', 'admission 30/30']);
  });

  it('MWP-SDV-015: the command prints one line a part and ends with 0', async () => {
    const printed: string[] = [];
    expect(await conformanceCommand(['--bundle', BUNDLE], (line) => printed.push(line))).toBe(0);
    expect(printed).toEqual(['structural 58/58', 'cryptography 62/62', 'admission 30/30']);
  });

  it('MWP-SDV-015: a checkout that keeps the bundle in a subfolder is found', async () => {
    const { folder } = copyOfBundle('vendor/protocol');
    expect((await runConformance(folder)).lines).toEqual(['structural 58/58', 'cryptography 62/62', 'admission 30/30']);
  });

  it('MWP-SDV-017: a changed file is found by its digest before any evaluation', async () => {
    const { folder } = copyOfBundle();
    edit(join(folder, 'cryptography/keys/registry-valid.json'), (text) =>
      text.replace('developer-one', 'developer-two'),
    );
    const { lines, failures } = await runConformance(folder);
    expect(lines).toEqual(['structural 58/58', 'cryptography 0/0', 'admission 0/0']);
    expect(failures).toContain('cryptography: cryptography/keys/registry-valid.json: digest differs');
  });

  it('MWP-SDV-017: a changed manifest is found by its own digest', async () => {
    const { folder } = copyOfBundle();
    edit(join(folder, 'admission/manifest.json'), (text) => text.replace('"complete"', '"admission"'));
    const { failures } = await runConformance(folder);
    expect(failures).toEqual(['admission: admission/manifest.json: artifactDigest differs']);
  });

  it('MWP-FND-004a: a mismatch names its case, what was expected and what was found', async () => {
    const { folder } = copyOfBundle();
    edit(join(folder, 'conformance/manifest.json'), (text) => text.replace('"valid": true', '"valid": false'));
    const printed: string[] = [];
    expect(await conformanceCommand(['--bundle', folder], (line) => printed.push(line))).toBe(1);
    expect(printed[0]).toBe('structural 57/58');
    expect(printed[3]).toBe('structural valid command envelope: expected invalid, found valid');
  });
});

describe('the conformance command', () => {
  it('MWP-FND-004a: a folder without a bundle and wrong arguments are no success', async () => {
    const folder = mkdtempSync(join(tmpdir(), 'mwp-no-bundle-'));
    copies.push(folder);
    const quiet = () => undefined;
    expect(await conformanceCommand(['--bundle', folder], quiet)).toBe(1);
    expect(await conformanceCommand([], quiet)).toBe(2);
    expect(await conformanceCommand(['--bundle'], quiet)).toBe(2);
    expect(await conformanceCommand(['--all', folder], quiet)).toBe(2);
  });
});
