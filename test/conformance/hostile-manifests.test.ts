import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, describe, it } from 'vitest';
import { copyOfBundle, expectRefused, hasBundle, removeCopies, replace, republish } from './spoiled-bundle.ts';

afterAll(removeCopies);

type Spoil = (folder: string) => void;

describe.runIf(hasBundle)('a hostile manifest gets one sentence', () => {
  const cryptography = (change: Parameters<typeof republish>[2]): Spoil => {
    return (folder) => republish(folder, 'cryptography', change);
  };
  const firstArtifact = (over: object) => cryptography(({ artifacts }) => Object.assign(artifacts[0] ?? {}, over));
  it.each<[string, Spoil, string | RegExp]>([
    [
      'a path up and out',
      firstArtifact({ path: '../outside.json' }),
      '"../outside.json" is not a path inside the bundle',
    ],
    ['a path through a folder and out', firstArtifact({ path: 'cryptography/../../x.json' }), 'not a path inside'],
    ['an absolute path', firstArtifact({ path: '/etc/passwd' }), '"/etc/passwd" is not a path inside the bundle'],
    ['a path that clears the screen', firstArtifact({ path: '\u001b[2J' }), '"\\u001b[2J" is not a path'],
    ['a path of a million characters', firstArtifact({ path: 'a'.repeat(500_000) }), 'is not a path inside the bundle'],
    ['a length of a gigabyte', firstArtifact({ byteLength: 1e9 }), 'another shape at "artifacts/0/byteLength"'],
    ['a length that is no integer', firstArtifact({ byteLength: 0.5 }), 'another shape at "artifacts/0/byteLength"'],
    [
      'a number beyond binary64',
      (folder) => replace(folder, 'cryptography/manifest.json', /"byteLength": \d+/, '"byteLength": 1e400'),
      'cryptography/manifest.json is not I-JSON: number-outside-binary64',
    ],
    [
      'a number of a hundred thousand digits',
      (folder) =>
        replace(folder, 'cryptography/manifest.json', /"byteLength": \d+/, `"byteLength": ${'9'.repeat(100_000)}`),
      'cryptography/manifest.json is not I-JSON: number-outside-binary64',
    ],
    [
      'a manifest that declares itself',
      cryptography(({ artifacts }) =>
        artifacts.push({ path: 'cryptography/manifest.json', byteLength: 1, sha256: '' }),
      ),
      'cryptography/manifest.json declares itself',
    ],
    [
      'an admission manifest that declares that of the cryptography part',
      (folder) =>
        republish(folder, 'admission', ({ artifacts }) =>
          artifacts.push({ path: 'cryptography/manifest.json', byteLength: 1, sha256: '' }),
        ),
      /cryptography\/manifest\.json has \d+ bytes/,
    ],
    [
      'one file declared twice',
      cryptography(({ artifacts }) => artifacts.push(...artifacts.slice(0, 1))),
      'names the file "cryptography/keys/registry-key-alias.json" twice',
    ],
    [
      'a case that reads what no digest covers',
      cryptography(({ cases }) =>
        Object.assign(cases[1]?.evaluations[0] ?? {}, { registry: 'cryptography/README.md' }),
      ),
      'a case reads "cryptography/README.md", which it does not declare',
    ],
    [
      'a case named twice',
      cryptography(({ cases }) => cases.push(...cases.slice(0, 1))),
      'names the case "accept.canonicalization.rfc8785-section-3.2.2" twice',
    ],
    ['no case', cryptography((manifest) => (manifest.cases = [])), 'another shape at "cases"'],
    [
      'a case without evaluations',
      cryptography(({ cases }) => (cases[0] ?? { evaluations: [] }).evaluations.splice(0)),
      'another shape at "cases/0/evaluations"',
    ],
    [
      'two million cases',
      (folder) => writeFileSync(join(folder, 'conformance/manifest.json'), `[${'0,'.repeat(2_000_000)}0]`),
      'conformance/manifest.json has more than 1048576 bytes',
    ],
    [
      'nesting without an end',
      (folder) => writeFileSync(join(folder, 'conformance/manifest.json'), '['.repeat(500_000)),
      'conformance/manifest.json is not strict JSON: too-deep',
    ],
    [
      'a doubled member',
      (folder) => replace(folder, 'admission/manifest.json', '{', '{"artifactDigest":"",'),
      'admission/manifest.json is not strict JSON: duplicate-member',
    ],
    [
      'a structural document outside the bundle',
      (folder) =>
        replace(folder, 'conformance/manifest.json', 'conformance/vectors/valid/command.json', '../command.json'),
      '"../command.json" is not a path inside the bundle',
    ],
    [
      'a schema outside the bundle',
      (folder) => replace(folder, 'conformance/manifest.json', 'schemas/command.schema.json', '../../x.schema.json'),
      'no schema "../../x.schema.json"',
    ],
    [
      'a manifest that is something else',
      (folder) => writeFileSync(join(folder, 'conformance/manifest.json'), '{}'),
      'conformance/manifest.json has another shape throughout',
    ],
  ])('MWP-EXT-011: %s', async (_name, spoil, sentence) => {
    const folder = copyOfBundle();
    spoil(folder);
    await expectRefused(folder, sentence);
  });
});
