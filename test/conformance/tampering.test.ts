import { execFileSync } from 'node:child_process';
import { chmodSync, cpSync, mkdirSync, readFileSync, renameSync, rmSync, symlinkSync, truncateSync } from 'node:fs';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, describe, expect, it } from 'vitest';
import { BUNDLE, conformance, copyOfBundle, hasBundle, removeCopies, replace } from './spoiled-bundle.ts';
import { expectRefused, republish, temporaryFolder } from './spoiled-bundle.ts';

afterAll(removeCopies);

const RECORD = 'admission/records/valid/command.json';
const REGISTRY = 'cryptography/keys/registry-valid.json';
const VECTOR = 'conformance/vectors/valid/command.json';
const at = join;

type Spoil = (folder: string) => void;

describe.runIf(hasBundle)('a bundle that contradicts its own manifest runs no case', () => {
  it.each<[string, Spoil, string | RegExp]>([
    [
      'a changed file of equal length',
      (folder) => replace(folder, REGISTRY, 'developer-one', 'developer-two'),
      /the digest of cryptography\/keys\/registry-valid\.json is sha256:[0-9a-f]{64}, and cryptography\/manifest\.json says "sha256:[0-9a-f]{64}"/,
    ],
    [
      'a longer file',
      (folder) => replace(folder, RECORD, /$/, '\n'),
      /admission\/records\/valid\/command\.json has \d+ bytes, and admission\/manifest\.json says \d+/,
    ],
    ['a missing file', (folder) => rmSync(at(folder, RECORD)), `${RECORD} does not exist`],
    ['a missing structural document', (folder) => rmSync(at(folder, VECTOR)), `${VECTOR} does not exist`],
    [
      'a missing schema',
      (folder) => rmSync(at(folder, 'schemas/lease.schema.json')),
      'no schema "schemas/lease.schema.json"',
    ],
    [
      'a changed schema',
      (folder) => replace(folder, 'schemas/command.schema.json', '{', '{ '),
      /schemas\/command\.schema\.json has \d+ bytes/,
    ],
    [
      'an expectation changed in the cryptography manifest',
      (folder) => replace(folder, 'cryptography/manifest.json', '"key-resolution"', '"signature"'),
      /the digest of cryptography\/manifest\.json is .*, and its artifactDigest says/,
    ],
    [
      'an expectation changed in the admission manifest',
      (folder) => replace(folder, 'admission/manifest.json', '"complete"', '"admission"'),
      /the digest of admission\/manifest\.json is .*, and its artifactDigest says/,
    ],
    [
      'a cryptography bundle that the admission bundle was not made for',
      (folder) => republish(folder, 'cryptography', ({ cases }) => cases.pop()),
      'admission/manifest.json belongs to another cryptography bundle',
    ],
    [
      'an admission bundle alone',
      (folder) => rmSync(at(folder, 'cryptography'), { recursive: true }),
      'admission/manifest.json belongs to another cryptography bundle',
    ],
    [
      'a file that no manifest declares',
      (folder) => writeFileSync(at(folder, 'cryptography/keys/another.json'), '{}'),
      '"cryptography/keys/another.json" is not declared by cryptography/manifest.json',
    ],
    [
      'a document that the structural manifest does not name',
      (folder) => writeFileSync(at(folder, 'conformance/vectors/valid/another.json'), '{}'),
      '"conformance/vectors/valid/another.json" is not named by conformance/manifest.json',
    ],
  ])('MWP-EXT-011, MWP-EXT-012: %s', async (_name, spoil, sentence) => {
    const folder = copyOfBundle();
    spoil(folder);
    await expectRefused(folder, sentence);
  });
});

describe.runIf(hasBundle)('what lies in the folder', () => {
  it('MWP-EXT-011: a link out of the folder is not followed, though the file behind it is right', async () => {
    const folder = copyOfBundle();
    const outside = at(temporaryFolder(), 'registry.json');
    cpSync(at(folder, REGISTRY), outside);
    rmSync(at(folder, REGISTRY));
    symlinkSync(outside, at(folder, REGISTRY));
    await expectRefused(folder, `${REGISTRY} is or lies behind a symbolic link`);
  });

  it('MWP-EXT-011: nor is a folder that is a link, a link in a circle, or a link to a manifest', async () => {
    const linked = copyOfBundle();
    rmSync(at(linked, 'cryptography'), { recursive: true });
    symlinkSync(join(BUNDLE, 'cryptography'), at(linked, 'cryptography'));
    await expectRefused(linked, 'cryptography/manifest.json is or lies behind a symbolic link');
    const circle = copyOfBundle();
    symlinkSync(at(circle, 'conformance'), at(circle, 'conformance/vectors/again'));
    await expectRefused(circle, 'conformance/vectors/again is or lies behind a symbolic link');
    const manifest = copyOfBundle();
    rmSync(at(manifest, 'conformance/manifest.json'));
    symlinkSync('manifest.json', at(manifest, 'conformance/manifest.json'));
    await expectRefused(manifest, 'conformance/manifest.json cannot be read (ELOOP)');
  });

  it('MWP-EXT-011: the folder itself may be named by a link', async () => {
    const link = at(temporaryFolder(), 'protocol');
    symlinkSync(copyOfBundle(), link);
    expect((await conformance('--bundle', link)).code).toBe(0);
  });

  it('MWP-EXT-011: a folder, a pipe and a file of a gigabyte in the place of a document', async () => {
    const folder = copyOfBundle();
    renameSync(at(folder, RECORD), at(folder, 'kept.json'));
    mkdirSync(at(folder, RECORD));
    await expectRefused(folder, `${RECORD} is not a regular file`);
    rmSync(at(folder, RECORD), { recursive: true });
    execFileSync('mkfifo', [at(folder, RECORD)]);
    await expectRefused(folder, `${RECORD} is not a regular file`);
    rmSync(at(folder, RECORD));
    writeFileSync(at(folder, RECORD), '');
    truncateSync(at(folder, RECORD), 1_000_000_000); // holds no block on the disk
    await expectRefused(folder, `${RECORD} has more than 1048576 bytes`);
  });

  // Whoever is root may read everything.
  it.skipIf(process.getuid?.() === 0)('MWP-EXT-011: a file that may not be read', async () => {
    const folder = copyOfBundle();
    chmodSync(at(folder, VECTOR), 0o000);
    await expectRefused(folder, `${VECTOR} cannot be read (EACCES)`);
  });

  it('MWP-EXT-011: what a desktop or an editor hides there is no file of the bundle', async () => {
    const folder = copyOfBundle();
    writeFileSync(at(folder, 'cryptography/.DS_Store'), 'x');
    expect((await conformance('--bundle', folder)).code).toBe(0);
  });

  it('MWP-SDV-016: a document that is whole and yet no JSON fails the one case that reads it', async () => {
    const folder = copyOfBundle();
    writeFileSync(at(folder, 'cryptography/keys/signing-coordinator.json'), '{"keyId":"urn:k:1","seed":"AAAA"}');
    republish(folder, 'cryptography');
    republish(folder, 'admission');
    const { code, stdout, stderr } = await conformance('--bundle', folder);
    expect([code, stderr]).toEqual([1, '']);
    expect(stdout).toMatch(/^cryptography accept\.command\.golden .*signing-coordinator\.json is not a signing key$/m);
    expect(readFileSync(join(folder, REGISTRY))).toEqual(readFileSync(join(BUNDLE, REGISTRY)));
  });
});

describe('a folder without a bundle', () => {
  it('MWP-EXT-011: is missing, empty or no folder', async () => {
    const folder = temporaryFolder();
    await expectRefused(folder, `no conformance/manifest.json in or below ${folder}`);
    await expectRefused(at(folder, 'missing'), 'missing does not exist');
    writeFileSync(at(folder, 'file'), '');
    await expectRefused(at(folder, 'file'), 'file is not a folder');
    symlinkSync('circle', at(folder, 'circle'));
    await expectRefused(at(folder, 'circle'), 'circle cannot be read (ELOOP)');
  });
});
