// One case: made of its number, sent, and judged. Whatever is wrong with it goes to the tally.
import { countingIn, type Verifications } from './cryptography.ts';
import type { Family, HttpCase, RawCase, World } from './cases.ts';
import { converse } from './connection.ts';
import { changedCommand } from './families/commands.ts';
import { contentRequest } from './families/contents.ts';
import { loginAttempt, type IssuedChallenge } from './families/login.ts';
import { operatorRequest } from './families/operator.ts';
import { readQuery } from './families/queries.ts';
import { anyRequest } from './families/requests.ts';
import { signedCommand } from './families/signed.ts';
import { rawBytes } from './families/sockets.ts';
import { judge, type Answer, type Judged } from './oracle.ts';
import { Random } from './random.ts';

const ORIGIN = 'http://fuzz.test';
/** In a hundred. A failed login takes a tenth of a second and a connection some milliseconds; they are few. */
const SHARES: readonly [Family, number][] = [
  ['commands', 33],
  ['signed', 12],
  ['requests', 18],
  ['queries', 22],
  ['operator', 8],
  ['login', 2],
  ['sockets', 2],
  ['contents', 3],
];
/** Milliseconds for one answer, all that is under way at the same time included. */
export const ANSWER_MAXIMUM = 10_000;
/** Tries to make a case that the platform's own Request takes; what it refuses cannot reach the service that way. */
const TRIES_MAXIMUM = 20;

export interface Shot {
  family: Family;
  /** What was sent, to be told. */
  sent: string;
  outcomes: string[];
  findings: string[];
  milliseconds: number;
  verifications: number;
  accepted?: { events: number };
}

export interface Range {
  world: World;
  seed: number;
  only?: Family | undefined;
  challenge: IssuedChallenge;
}

export async function shoot(range: Range, caseNumber: number): Promise<Shot> {
  const random = new Random(range.seed, caseNumber);
  const family = range.only ?? familyOf(random);
  const verifications: Verifications = { count: 0 };
  const begun = performance.now();
  const shot =
    family === 'sockets'
      ? await shootRaw(rawBytes(random, range.world), range.world)
      : await countingIn(verifications, () => shootHttp(family, random, range));
  return { ...shot, family, milliseconds: performance.now() - begun, verifications: verifications.count };
}

function familyOf(random: Random): Family {
  let at = random.below(100);
  for (const [family, share] of SHARES) {
    if (at < share) return family;
    at -= share;
  }
  return 'commands';
}

type Seen = Omit<Shot, 'family' | 'milliseconds' | 'verifications'>;

async function shootHttp(family: Family, random: Random, { world, challenge }: Range): Promise<Seen> {
  const { request, made } = possible(() => make(family, random, world, challenge));
  const sent = told(made);
  const answer = await inTime(answerOf(world.host.fetch(request)));
  if (answer === 'late') return { sent, outcomes: ['no answer'], findings: [`no answer in ${ANSWER_MAXIMUM} ms`] };
  const judged = judge(answer, {
    sent: `${sent} ${made.body ? Buffer.from(made.body).toString('utf8') : ''} ${decodedTarget(made.target)}`,
    isHead: made.method.toUpperCase() === 'HEAD',
    secrets: secretsFor(family, world),
    expect: made.expect,
  });
  return { sent, outcomes: [outcomeOf(answer, judged)], ...judged };
}

function make(family: Family, random: Random, world: World, challenge: IssuedChallenge): HttpCase {
  switch (family) {
    case 'commands':
      return changedCommand(random, world);
    case 'signed':
      return signedCommand(random, world);
    case 'requests':
      return anyRequest(random, world);
    case 'queries':
      return readQuery(random, world);
    case 'operator':
      return operatorRequest(random, world);
    case 'login':
      return loginAttempt(random, world, challenge);
    case 'contents':
      return contentRequest(random, world);
    case 'sockets':
      throw new Error('not made of a Request');
  }
}

function possible(make: () => HttpCase): { request: Request; made: HttpCase } {
  for (let tries = 1; ; tries += 1) {
    const made = make();
    const { method, target, headers, body } = made;
    try {
      const request = new Request(`${ORIGIN}${target}`, {
        method,
        headers,
        ...(body && { body: body as Uint8Array<ArrayBuffer> }),
      });
      return { request, made };
    } catch (error) {
      if (tries === TRIES_MAXIMUM) throw error;
    }
  }
}

async function answerOf(pending: Response | Promise<Response>): Promise<Answer> {
  const response = await pending;
  return { status: response.status, headers: [...response.headers], body: await response.text() };
}

async function shootRaw({ pieces }: RawCase, { host, busy, lab }: World): Promise<Seen> {
  const sent = pieces.map((piece) => Buffer.from(piece).toString('latin1')).join('');
  const { answers, rest, ended } = await converse(host.port, pieces);
  const findings = ended ? [] : ['the connection was not ended'];
  if (rest !== '') findings.push(`no answer of HTTP: ${JSON.stringify(rest.slice(0, 200))}`);
  const secrets = [busy.organizationId, lab.organizationId];
  const isHead = /HEAD/i.test(sent);
  const outcomes = answers.map((answer) => {
    const judged = judge(answer, { sent, isHead, secrets, expect: 'nothing-new' });
    findings.push(...judged.findings);
    return `socket ${outcomeOf(answer, judged)}`;
  });
  if (outcomes.length === 0) outcomes.push('socket ended without an answer');
  return { sent: JSON.stringify(sent.slice(0, 4_000)), outcomes, findings };
}

function outcomeOf({ status }: Answer, { code, accepted }: Judged): string {
  return `${status} ${code ?? (accepted ? 'accepted' : '')}`.trim();
}

/** What of the other Organizations nobody here may hear. The operator may hear all. */
function secretsFor(family: Family, { quiet, busy, lab, quietScene, busyScene }: World): string[] {
  if (family === 'operator') return [];
  if (family === 'signed') return [quiet.organizationId, quietScene.groupId, lab.organizationId];
  return [busy.organizationId, busyScene.groupId, lab.organizationId];
}

function told({ method, target, headers, body }: HttpCase): string {
  const lines = headers.map(([name, value]) => `${name}: ${value}`).join('\n    ');
  const content = body
    ? `\n    ${Buffer.from(body.subarray(0, 4_000)).toString('base64')} (base64, ${body.length} bytes)`
    : '';
  return `${method} ${target}\n    ${lines}${content}`;
}

function decodedTarget(target: string): string {
  try {
    return decodeURIComponent(target);
  } catch {
    return target;
  }
}

async function inTime<Value>(pending: Promise<Value>): Promise<Value | 'late'> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<'late'>((resolve) => (timer = setTimeout(() => resolve('late'), ANSWER_MAXIMUM)));
  try {
    return await Promise.race([pending, late]);
  } finally {
    clearTimeout(timer);
  }
}
