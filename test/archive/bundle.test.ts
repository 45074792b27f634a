// An exported Group proves itself, and whatever is changed in it is found: by the authority's statement, and where a thief
// of the authority's key signs anew, by the signatures and chains of the transitions themselves.
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { StatementLine } from '../../src/archive/bundle-lines.ts';
import { verifyBundle } from '../../src/archive/verify-bundle.ts';
import { exportedText, faultsIn, inChunks, signedAnew as statedAnew } from '../support/bundles.ts';
import { STORES, type OpenedStore } from '../support/databases.ts';
import { playOrganization, type PlayedOrganization } from './played-organization.ts';
import { flipped, seededRandom } from './vandal.ts';

const seed = Number(process.env['TAMPERING_SEED'] ?? Date.now() % 1_000_000);

describe.each(STORES)('an exported Group of $name', ({ open }) => {
  let opened: OpenedStore;
  let played: PlayedOrganization;
  let lines: string[];
  let text: string;

  const exported = (groupId: string) => exportedText(played.tenant, groupId, opened.store);

  beforeAll(async () => {
    opened = await open();
    played = await playOrganization(opened.store);
    text = await exported(played.mission.groupId);
    lines = text.trimEnd().split('\n');
  });
  afterAll(() => opened.close());

  /** With a statement over what the lines are now, as only the authority's key can sign it. */
  const signedAnew = (changed: readonly string[]) => statedAnew(played.tenant, changed, lines.at(-1) as string);
  const statement = () => JSON.parse(lines.at(-1) as string) as StatementLine;
  const unsigned = () => lines.slice(0, -1);

  it('proves itself, folds to the stored state and names the key that signed it', async () => {
    const { tenant, mission } = played;
    const report = await verifyBundle(inChunks(text, 7));
    expect([report.sentences, report.notes]).toEqual([[], []]);
    const key = tenant.keyOf(tenant.organization.authority);
    expect(report).toMatchObject({ authorityKey: key.publicKey, header: { groupId: mission.groupId } });
    const { stateHash } = statement();
    expect(report.stateHash).toBe(stateHash);
    expect(await faultsIn(text, { authorityKey: key.publicKey })).toEqual([]);
    expect(await faultsIn(text, { authorityKey: tenant.keyOf(mission.owner.principal).publicKey })).toEqual([
      'the statement is signed by another key than --authority-key',
    ]);
    expect(await faultsIn(signedAnew(unsigned()))).toEqual([]);
  });

  it('holds nothing of other Groups, though a replaced session touched both', async () => {
    expect(text).toContain('session_open');
    expect(text).not.toContain(played.other.groupId);
    expect(await faultsIn(await exported(played.other.groupId))).toEqual([]);
  });

  it(`MWP-SDV-007: every member of every line, changed once, is found by the statement (seed ${seed})`, async () => {
    const random = seededRandom(seed);
    for (const [at, line] of lines.entries()) {
      for (const [path, changed] of changes(JSON.parse(line) as object, random)) {
        const faults = await faultsIn(`${lines.with(at, JSON.stringify(changed)).join('\n')}\n`);
        expect([at, path, faults.length > 0]).toEqual([at, path, true]);
        if (at > 3 && at < lines.length - 4) break; // the next test goes through all of them
      }
    }
  });

  it(
    `and by what the transitions say of each other, where somebody signs it anew (seed ${seed})`,
    { timeout: 60_000 },
    async () => {
      const random = seededRandom(seed);
      const kinds = new Set<string>();
      for (const [at, line] of unsigned().entries()) {
        const { line: kind } = JSON.parse(line) as { line: string };
        // All of the first line of a kind, and some of the others.
        const isFirst = !kinds.has(kind);
        kinds.add(kind);
        for (const [path, changed] of changes(JSON.parse(line) as object, random)) {
          if (isFree(path, line) || (!isFirst && random(8) > 0)) continue;
          const faults = await faultsIn(signedAnew(unsigned().with(at, JSON.stringify(changed))));
          const what = `${path} of line ${at + 1}: ${JSON.stringify(changed)}`;
          expect([what, faults.length > 0 ? 'found' : 'not found']).toEqual([what, 'found']);
        }
      }
      expect(kinds.size).toBe(11);
    },
  );

  it('a bundle that was cut, reordered, mixed or spoilt gives a sentence, wherever it was', async () => {
    const foreign = (await exported(played.other.groupId)).trimEnd().split('\n');
    const [first, second] = [lines.findIndex((line) => line.includes('"event"')), lines.length - 3];
    const spoilt: Record<string, string> = {
      nothing: '',
      'no bundle': 'hello\n',
      'another format': text.replace('"format":2', '"format":3'),
      'cut in a line': text.slice(0, -20),
      'cut after a line': `${lines.slice(0, 20).join('\n')}\n`,
      'cut before the statement': `${unsigned().join('\n')}\n`,
      'without its header': `${lines.slice(1).join('\n')}\n`,
      'two lines exchanged': `${lines
        .with(first, lines[second] as string)
        .with(second, lines[first] as string)
        .join('\n')}\n`,
      'more after the statement': `${text}${lines[1]}\n`,
      'an empty line': text.replace('\n', '\n\n'),
      'a line twice': `${lines.toSpliced(first, 0, lines[first] as string).join('\n')}\n`,
      'a blank more': text.replace('"line":', '"line": '),
      'a member twice': text.replace('{"line":"transition"', '{"line":"transition","line":"transition"'),
      'a member more': text.replace('{"line":"transition"', '{"more":1,"line":"transition"'),
      'a line of another Group': signedAnew(unsigned().toSpliced(first, 1, foreign[first] as string)),
      'the history of another Group': signedAnew([lines[0] as string, ...foreign.slice(1, -1)]),
      'the statement of another Group': `${[...unsigned(), foreign.at(-1) as string].join('\n')}\n`,
      'a proto': text.replace('{"line":"transition"', '{"__proto__":{},"line":"transition"'),
      'deep nesting': `${'['.repeat(100_000)}\n`,
      'a null': text.replace(/"principal":\{[^}]*\}/, '"principal":null'),
      'a text for a number': text.replace(/"revision":1,/, '"revision":"1",'),
      'no UTF-8': text.replace('urn:', '\ud800'),
    };
    for (const [what, bundle] of Object.entries(spoilt)) {
      const faults = await faultsIn(bundle);
      expect([what, faults.length > 0 ? 'found' : bundle.length]).toEqual([what, 'found']);
    }
  });

  it('a line without end is not collected', async () => {
    let given = 0;
    async function* endless(): AsyncGenerator<Uint8Array> {
      for (;;) {
        given += 1_048_576;
        yield Buffer.alloc(1_048_576, 'a');
      }
    }
    await expect(verifyBundle(endless())).rejects.toThrow(/a line of more than/);
    expect(given).toBeLessThan(20_000_000);
  });

  it('a Group that does not stand up to its proof is not exported, and neither is what is no Group', async () => {
    await expect(exported('urn:test:group:none')).rejects.toThrow('no Group');
    await expect(exported(`session ${played.mission.coordinator.principal.id}`)).rejects.toThrow('no Group');
  });
});

/** What the authority alone says, so that who has its key may say otherwise. */
function isFree(path: string, line: string): boolean {
  const keptElsewhere = line.startsWith('{"line":"admission"') && line.includes('"streamId":"session ');
  const isOfTheRegistry = path === 'binding.validFrom' || path.startsWith('binding.history.');
  return isOfTheRegistry || (keptElsewhere && ['row.streamId', 'row.revision'].includes(path));
}

/** Each member once, and where it is itself made of members, each of those. */
function* changes(
  value: object,
  random: (below: number) => number,
  path: string[] = [],
): Generator<[path: string, changed: object]> {
  for (const [name, member] of Object.entries(value) as [string, unknown][]) {
    const here = [...path, name];
    if (typeof member === 'object' && member !== null && Object.keys(member).length > 0) {
      for (const [inner, changed] of changes(member, random, here)) {
        yield [
          inner,
          Array.isArray(value) ? (value as object[]).with(Number(name), changed) : { ...value, [name]: changed },
        ];
      }
    } else {
      const column = { table: '', name, isNumber: typeof member === 'number' };
      const changed = flipped(member, column, random);
      yield [
        here.join('.'),
        Array.isArray(value) ? (value as unknown[]).with(Number(name), changed) : { ...value, [name]: changed },
      ];
    }
  }
}
