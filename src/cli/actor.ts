// `mwp token` and `mwp sign`: what an actor needs to speak to the API with a plain HTTP client. They read the key file that
// `mwp key generate --out` wrote; the key goes nowhere.
import { readFileSync } from 'node:fs';
import { z } from 'zod';
import type { Principal, PrincipalType } from '../protocol/principals.ts';
import { decodeBase64url } from '../wire/base64url.ts';
import { AuthorityClient } from '../worker/client.ts';
import { signCommand, type CommandDraft, type Epochs } from '../worker/commands.ts';
import { describeProblem } from '../worker/outcome.ts';
import { actorKeyFromSeed, type ActorKey } from '../worker/keys.ts';
import {
  CommandFault,
  DONE,
  print,
  readOptions,
  required,
  UsageFault,
  type CliCommand,
  type Options,
} from './command-line.ts';

const DEFAULT_URL = 'http://127.0.0.1:8080';

const ACTOR_OPTIONS = { principal: { type: 'string' }, key: { type: 'string' } } as const;
const ACTOR_HELP = `  --principal TYPE:URI  human:, agent: or service: and the principal's id
  --key FILE            as mwp key generate --out wrote it`;

const EPOCH_OPTIONS = {
  'session-epoch': { type: 'string' },
  'membership-epoch': { type: 'string' },
  'coordinator-epoch': { type: 'string' },
} as const;

export const token: CliCommand = {
  name: 'token',
  summary: 'log in as an actor and print the token for its Authorization header',
  help: `mwp token --org SLUG --principal TYPE:URI --key FILE [--session] [--url URL]

  --org SLUG            the Organization
${ACTOR_HELP}
  --session             open a new session of this agent; its Session Epoch goes to standard error
  --url URL             of the service (${DEFAULT_URL})`,

  async run(args) {
    const options = readOptions(args, {
      org: { type: 'string' },
      session: { type: 'boolean' },
      url: { type: 'string' },
      ...ACTOR_OPTIONS,
    });
    const organization = required(options.org, '--org');
    const url = (options.url ?? DEFAULT_URL).replace(/\/+$/, '');
    const client = new AuthorityClient({ url, organization, key: actorKey(options) });
    const outcome = options.session ? await client.openSession() : await client.logIn();
    if (!outcome.ok) throw new CommandFault(`no token: ${describeProblem(outcome.problem)}`);
    if (outcome.value.sessionEpoch !== undefined) process.stderr.write(`session epoch ${outcome.value.sessionEpoch}\n`);
    print(outcome.value.token);
    return DONE;
  },
};

export const sign: CliCommand = {
  name: 'sign',
  summary: 'make a signed Command of the draft on standard input',
  help: `mwp sign --principal TYPE:URI --key FILE
         [--session-epoch N] [--membership-epoch N] [--coordinator-epoch N]

${ACTOR_HELP}
  --…-epoch N           what the actor is in the Group now

Standard input is a JSON object: kind and payload, and whatever else of groupId, actionId, correlationId,
causedByEventId, conversationId, workItemId, expectedRevision and extensions belongs to the Command. Prints the
Command; send exactly these bytes, again as often as needed.`,

  async run(args) {
    const options = readOptions(args, { ...ACTOR_OPTIONS, ...EPOCH_OPTIONS });
    const epochs = epochsIn(options);
    const key = actorKey(options);
    try {
      const { bytes } = signCommand(key, draftIn(readFileSync(process.stdin.fd, 'utf8')), epochs);
      process.stdout.write(bytes); // and not a byte more
    } catch (error) {
      if (error instanceof UsageFault || error instanceof CommandFault) throw error;
      throw new CommandFault(`this is no Command: ${error instanceof Error ? error.message : String(error)}`);
    }
    return DONE;
  },
};

const keyFile = z.object({ keyId: z.string(), seed: z.string() });

function actorKey({ principal, key }: Options<typeof ACTOR_OPTIONS>): ActorKey {
  const who = principalIn(required(principal, '--principal'));
  const path = required(key, '--key');
  let text: string;
  try {
    text = readFileSync(path, 'utf8');
  } catch (error) {
    throw new CommandFault(`cannot read ${path}: ${(error as Error).message}`);
  }
  const read = keyFile.safeParse(jsonIn(text));
  const seed = read.success ? decodeBase64url(read.data.seed) : undefined;
  if (!read.success || !(seed instanceof Uint8Array) || seed.length !== 32) {
    throw new CommandFault(`${path} holds no key: { keyId, publicKey, seed } was expected`);
  }
  return actorKeyFromSeed(who, read.data.keyId, seed);
}

export function principalIn(text: string): Principal {
  const [, type, id] = /^(human|agent|service):(.+)$/.exec(text) ?? [];
  if (type === undefined || id === undefined) throw new UsageFault('--principal must look like human:urn:example:olga');
  return { type: type as PrincipalType, id };
}

function draftIn(text: string): CommandDraft {
  const draft = jsonIn(text);
  const isDraft = z.looseObject({ kind: z.string(), payload: z.looseObject({}) }).safeParse(draft).success;
  if (!isDraft) throw new CommandFault('standard input holds no JSON object with kind and payload');
  return draft as CommandDraft;
}

function jsonIn(text: string): unknown {
  try {
    return JSON.parse(text) as unknown;
  } catch {
    return undefined;
  }
}

function epochsIn(options: Options<typeof EPOCH_OPTIONS>): Epochs {
  return {
    ...epoch(options, 'session-epoch', 'sessionEpoch'),
    ...epoch(options, 'membership-epoch', 'membershipEpoch'),
    ...epoch(options, 'coordinator-epoch', 'coordinatorEpoch'),
  };
}

function epoch(options: Options<typeof EPOCH_OPTIONS>, option: keyof typeof EPOCH_OPTIONS, member: keyof Epochs) {
  const text = options[option];
  if (text === undefined) return {};
  if (!/^[1-9]\d{0,14}$/.test(text)) throw new UsageFault(`--${option} must be a whole number from 1`);
  return { [member]: Number(text) };
}
