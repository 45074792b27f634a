import { cpSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, describe, expect, it } from 'vitest';
import { BUILT_AGAINST } from '../../src/cli/conformance/release.ts';
import { runConformance } from '../../src/cli/conformance/run.ts';
import { canonicalText } from '../../src/wire/canonical.ts';
import { ALL_PASSED, BUNDLE, conformance, copyOfBundle, hasBundle, removeCopies } from './spoiled-bundle.ts';
import { replace, republish, sha256, temporaryFolder } from './spoiled-bundle.ts';

afterAll(removeCopies);

describe.runIf(hasBundle)('the published bundles', () => {
  it('MWP-FND-004a, MWP-SDV-015f, MWP-ADM-012: every structural, cryptography and admission evaluation comes out as published', async () => {
    const { lines, notices, failures } = await runConformance(BUNDLE);
    expect(failures).toEqual([]);
    expect(notices).toEqual([]);
    expect(lines).toEqual(['structural 58/58', 'cryptography 62/62', 'admission 30/30']);
  });

  it('MWP-EXT-011, MWP-EXT-012: the command prints one line a part and nothing else, and ends with 0', async () => {
    expect(await conformance('--bundle', BUNDLE)).toEqual({ code: 0, stdout: ALL_PASSED, stderr: '' });
  });

  it('MWP-EXT-011, MWP-EXT-012: a checkout that keeps the bundle in a subfolder is found, one further down is not', async () => {
    const above = temporaryFolder();
    cpSync(BUNDLE, join(above, 'a/b/vendor/protocol'), { recursive: true });
    const found = await conformance('--bundle', join(above, 'a'));
    expect(found).toEqual({ code: 0, stdout: ALL_PASSED, stderr: '' });
    expect(await conformance('--bundle', above)).toMatchObject({ code: 1, stdout: '' });
  });

  it('MWP-EXT-011, MWP-EXT-012: the digests that this release was built against are those of the manifests', () => {
    const digestIn = (part: string) =>
      (JSON.parse(readFileSync(join(BUNDLE, part, 'manifest.json'), 'utf8')) as { artifactDigest: string })
        .artifactDigest;
    expect(BUILT_AGAINST.cryptography.digest).toBe(digestIn('cryptography'));
    expect(BUILT_AGAINST.admission.digest).toBe(digestIn('admission'));
    // The structural manifest states none; --help tells how this one is made.
    const manifest = JSON.parse(readFileSync(join(BUNDLE, 'conformance/manifest.json'), 'utf8')) as {
      instance: string;
    }[];
    const schemas = readdirSync(join(BUNDLE, 'schemas')).filter((name) => name.endsWith('.schema.json'));
    const paths = [
      'conformance/manifest.json',
      ...schemas.map((name) => `schemas/${name}`),
      ...manifest.map(({ instance }) => instance),
    ];
    expect(paths).toHaveLength(1 + 22 + 58);
    const list = paths.sort().map((path) => {
      const bytes = readFileSync(join(BUNDLE, path));
      return { path, byteLength: bytes.length, sha256: sha256(bytes) };
    });
    expect(BUILT_AGAINST.structural.digest).toBe(sha256(canonicalText(list)));
  });
});

describe.runIf(hasBundle)('a mismatch', () => {
  it('MWP-FND-004a: names its structural case, what was expected and what was found, and ends with 1', async () => {
    const folder = copyOfBundle();
    replace(folder, 'conformance/manifest.json', '"valid": true', '"valid": false');
    const { code, stdout } = await conformance('--bundle', folder);
    expect(code).toBe(1);
    expect(stdout).toMatch(/^structural 57\/58\ncryptography 62\/62\nadmission 30\/30\n/);
    expect(stdout).toContain('structural valid command envelope: expected invalid, found valid\n');
  });

  it('MWP-SDV-015a: names its cryptography case with the expected and the found stage', async () => {
    const folder = copyOfBundle();
    republish(folder, 'cryptography', (manifest) => {
      const { evaluations } = manifest.cases.find(({ id }) => id === 'reject.key-resolution.unknown-key') ?? {};
      Object.assign(evaluations?.[0]?.['expect'] as object, { stage: 'signature' });
    });
    republish(folder, 'admission');
    const { code, stdout } = await conformance('--bundle', folder);
    expect(code).toBe(1);
    expect(stdout).toContain('cryptography 61/62\n');
    expect(stdout).toMatch(
      /^cryptography reject\.key-resolution\.unknown-key .*: expected signature AUTH_INVALID_SIGNATURE, found key-resolution AUTH_INVALID_SIGNATURE \(key-unknown\)$/m,
    );
  });

  it('MWP-SDV-015a: what should fail and passes is a mismatch, too, and so is a changed result of what passes', async () => {
    const folder = copyOfBundle();
    republish(folder, 'cryptography', ({ cases }) => {
      const [golden] = cases.find(({ id }) => id === 'accept.command.golden')?.evaluations ?? [];
      Object.assign(golden?.['expect'] as object, { stage: 'signature', wireCode: 'AUTH_INVALID_SIGNATURE' });
      const [first] = cases.find(({ id }) => id === 'accept.profile-matrix.all-nine')?.evaluations ?? [];
      Object.assign((first?.['expect'] as { verified: object }).verified, { signingHash: `sha256:${'0'.repeat(64)}` });
    });
    republish(folder, 'admission');
    const { code, stdout } = await conformance('--bundle', folder);
    expect(code).toBe(1);
    expect(stdout).toContain('cryptography 60/62\n');
    expect(stdout).toMatch(/accept\.command\.golden .*: expected signature .*, found complete no code$/m);
    expect(stdout).toMatch(/accept\.profile-matrix\.all-nine .*"signingHash":"sha256:0{64}"/m);
  });

  it('MWP-ADM-012: names its admission case with the expected and the found reason', async () => {
    const folder = copyOfBundle();
    republish(folder, 'admission', ({ cases }) => {
      const evaluations = cases.flatMap((one) => one.evaluations);
      const missing = evaluations.find((one) => (one['expect'] as { reason?: string }).reason === 'record-missing');
      Object.assign(missing?.['expect'] as object, { reason: 'record-conflict' });
    });
    const { code, stdout } = await conformance('--bundle', folder);
    expect(code).toBe(1);
    expect(stdout).toContain('admission 29/30\n');
    expect(stdout).toMatch(
      /^admission reject\.admission\.failure-matrix .*: expected admission AUTH_INVALID_SIGNATURE record-conflict, found admission AUTH_INVALID_SIGNATURE record-missing$/m,
    );
  });
});

describe.runIf(hasBundle)('another revision of the protocol', () => {
  it('MWP-EXT-011, MWP-EXT-012: other digests and counts are told in plain words, the cases run, and that is no failure', async () => {
    const folder = copyOfBundle();
    republish(folder, 'cryptography', (manifest) => {
      manifest.cases = manifest.cases.filter(({ id }) => id !== 'reject.key-resolution.unknown-key');
    });
    republish(folder, 'admission');
    replace(folder, 'conformance/vectors/valid/command.json', '{', '{ ');
    const { code, stdout, stderr } = await conformance('--bundle', folder);
    expect([code, stderr]).toEqual([0, '']);
    const [structural, cryptography, admission, ...notices] = stdout.trimEnd().split('\n');
    expect([structural, cryptography, admission]).toEqual([
      'structural 58/58',
      'cryptography 61/61',
      'admission 30/30',
    ]);
    const told = 'another revision of the bundle than this release was built against';
    const digest = 'digest sha256:[0-9a-f]{64}, not sha256:[0-9a-f]{64}';
    expect(notices).toHaveLength(3);
    expect(notices[0]).toMatch(new RegExp(`^structural: ${told}: ${digest}$`));
    expect(notices[1]).toMatch(new RegExp(`^cryptography: ${told}: 61 evaluations, not 62; ${digest}$`));
    expect(notices[2]).toMatch(new RegExp(`^admission: ${told}: ${digest}$`));
  });

  it('MWP-EXT-012: a revision without a part runs the others and is no success', async () => {
    const folder = copyOfBundle();
    rmSync(join(folder, 'admission'), { recursive: true });
    const { code, stdout } = await conformance('--bundle', folder);
    expect(code).toBe(1);
    expect(stdout).toBe(
      'structural 58/58\ncryptography 62/62\nadmission 0/0\n' +
        'admission: the bundle has no admission/manifest.json, so nothing of this part was run\n',
    );
  });
});

describe('the conformance command', () => {
  it('answers a wrong command line with a sentence and exit code 2', async () => {
    const folder = temporaryFolder();
    for (const args of [[], ['--bundle'], ['--bundle', ''], ['--all', folder], ['--bundle', folder, folder]]) {
      const { code, stdout, stderr } = await conformance(...args);
      expect([code, stdout]).toEqual([2, '']);
      expect(stderr).toMatch(/^mwp: /);
    }
  });
});
