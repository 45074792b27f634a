// How many Commands a second one core takes through stages 1 to 6, as a share of what it takes through the platform's
// Ed25519 verification alone. Nothing here touches a store or a socket.
import { readFileSync } from 'node:fs';
import { availableParallelism } from 'node:os';
import type { KeyBinding } from '../../src/trust/evidence.ts';
import { generateKeyPair, signingBytes } from '../../src/trust/signing.ts';
import { signCommand, type CommandDraft } from '../../src/worker/commands.ts';
import { actorKeyFromSeed } from '../../src/worker/keys.ts';
import { encodeBase64url } from '../../src/wire/base64url.ts';
import { Child } from './child.ts';
import type { Cost, VerifierFigures, VerifierOrder } from './verifier.ts';

/** Design section 12 asks for so much of what native verification allows. */
const BAR = 0.8;
/** Makes a Command of about 1.5 kB. */
const TEXT_CHARACTERS = 680;
const ACTORS = 50;
/** Different ones, so that no single text stays in the processor's nearest cache. */
const COMMANDS = 1_000;
const ORGANIZATION = 'urn:example:organization:bench';

/** `checkouts` are built ones; the first is this one. */
export async function measureVerification(checkouts: readonly string[]): Promise<void> {
  const order = makeOrder(checkouts);
  const [first] = order.commands;
  console.log(
    `Commands of about ${first?.text.length} bytes, ${first?.signingText.length} of them signed; ` +
      `${order.turns} turns of ${order.perTurn} each, ${order.inHand} in hand at once; medians`,
  );
  // Processor time counts all threads of the process, so the pool gets no second core for nothing.
  const free = await measure(order);
  print(checkouts, 'processor time, any core', free, 'cpu');
  const core = lastAllowedCore();
  if (core === undefined) return console.log('not pinned to one core: taskset is for Linux');
  const pinned = await measure(order, core);
  print(checkouts, `processor time, on core ${core} alone`, pinned, 'cpu');
  print(checkouts, `elapsed time, on core ${core} alone`, pinned, 'elapsed');
}

async function measure(order: VerifierOrder, core?: number): Promise<VerifierFigures> {
  const pinned = core === undefined ? {} : { core, env: { UV_THREADPOOL_SIZE: '1' } };
  const child = new Child<VerifierOrder, VerifierFigures>('verifier.ts', pinned);
  try {
    return await child.ask(order);
  } finally {
    child.end();
  }
}

function print(checkouts: readonly string[], by: string, { floor, staged }: VerifierFigures, time: keyof Cost): void {
  for (const [at, { cost, ratio }] of staged.entries()) {
    const name = at === 0 ? 'here' : checkouts[at];
    console.log(
      `${by}, ${name}: floor ${perSecond(floor[time])}/s, stages 1 to 6 ${perSecond(cost[time])}/s, ` +
        `ratio ${ratio[time].toFixed(3)} (bar ${BAR.toFixed(1)})`,
    );
  }
}

function perSecond(microseconds: number): string {
  return (1e6 / microseconds).toFixed(0);
}

function makeOrder(checkouts: readonly string[]): VerifierOrder {
  const actors = Array.from({ length: ACTORS }, (_, at) => {
    const { seed, publicKey } = generateKeyPair();
    const principal = { type: 'agent' as const, id: urn('agent', at) };
    const keyId = urn('key', at);
    const binding: KeyBinding = {
      keyId,
      principal,
      algorithm: 'Ed25519',
      publicKey,
      validFrom: '2026-01-01T00:00:00Z',
      history: [],
    };
    return { key: actorKeyFromSeed(principal, keyId, seed), binding };
  });
  const epochs = { sessionEpoch: 3, membershipEpoch: 1 };
  const commands = Array.from({ length: COMMANDS }, (_, at) => {
    const { key, binding } = actors[at % ACTORS] as (typeof actors)[number];
    const { document, bytes } = signCommand(key, post(at), epochs);
    return {
      text: Buffer.from(bytes).toString('utf8'),
      signingText: Buffer.from(signingBytes(document)).toString('utf8'),
      signature: document.signature.value,
      publicKey: binding.publicKey,
    };
  });
  const bindings = actors.map(({ binding }) => binding);
  const sizes = { turns: 61, perTurn: 250, inHand: 32, warmUpTurns: 10 };
  return { checkouts, organizationId: ORGANIZATION, bindings, commands, ...sizes };
}

function post(at: number): CommandDraft {
  const text = `${at} `.padEnd(TEXT_CHARACTERS, 'All work is work of the Group. ');
  const payload = {
    messageId: urn('message', at),
    conversationId: urn('conversation', at % 7),
    content: [{ type: 'text', text }],
  };
  return { kind: 'message.post', groupId: urn('group', at % 20), payload };
}

/** As long as a `urn:uuid:`, which is what senders mint. */
function urn(kind: string, at: number): string {
  return `urn:example:${kind}:${encodeBase64url(Buffer.from(String(at).padStart(12, '0')))}`;
}

/** Undefined where the system does not say. */
function lastAllowedCore(): number | undefined {
  try {
    const list = /^Cpus_allowed_list:\s*(\S+)$/m.exec(readFileSync('/proc/self/status', 'utf8'))?.[1];
    const last = Number(list?.split(/[,-]/).at(-1));
    return Number.isSafeInteger(last) ? last : availableParallelism() - 1;
  } catch {
    return undefined;
  }
}
