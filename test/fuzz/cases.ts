// What a case is, and the state of the world that cases are made of.
import type { ActorKey } from '../../src/worker/keys.ts';
import type { Host } from './host.ts';
import type { Random } from './random.ts';
import type { Scene } from './scene.ts';
import type { FuzzTenant } from './tenant.ts';

export const FAMILIES = [
  'commands',
  'signed',
  'requests',
  'queries',
  'operator',
  'login',
  'sockets',
  'contents',
] as const;
export type Family = (typeof FAMILIES)[number];

export interface HttpCase {
  method: string;
  /** Path and query, as they stand in the request line. */
  target: string;
  headers: [name: string, value: string][];
  body?: Uint8Array;
  /** What the answer must keep to, beside what all answers must. */
  expect?: Expectation;
}

export type Expectation =
  /** No token that is good here: 401, whatever else is asked. */
  | 'unauthorized'
  /** No new Command may be accepted; one that was accepted before may be repeated. */
  | 'nothing-new';

/** Bytes for a connection of their own, piece by piece. */
export interface RawCase {
  pieces: Uint8Array[];
}

export interface World {
  host: Host;
  /** Nothing here ever changes but the audit record; its Commands were all accepted before. */
  quiet: FuzzTenant;
  quietScene: Scene;
  /** Commands that are signed after they were changed go here, and may be accepted. */
  busy: FuzzTenant;
  busyScene: Scene;
  /** The operator API works on this one. */
  lab: FuzzTenant;
  labKeys: ActorKey[];
  /** A token that was good once: signed by this service, of the quiet Organization, and over. */
  expiredToken: string;
}

export type MakeCase = (random: Random, world: World) => HttpCase;

export function json(value: unknown): Uint8Array {
  return new Uint8Array(Buffer.from(JSON.stringify(value) ?? 'null', 'utf8'));
}

export function jsonHeaders(token: string): [string, string][] {
  return [
    ['authorization', `Bearer ${token}`],
    ['content-type', 'application/json'],
  ];
}
