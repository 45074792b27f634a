// Builds and signs Commands: fills the envelope (ids, epochs, issuedAt) around a payload and signs it once. The signed
// bytes are the Command from then on; every retry sends exactly them.

import { randomBytes, randomUUID } from 'node:crypto';
import type { Extension } from '../protocol/documents/shapes.ts';
import type { CommandKind } from '../protocol/kinds.ts';
import { timestampFromMillis } from '../protocol/timestamps.ts';
import type { SignedDocument, UnsignedDocument } from '../trust/signed-kinds.ts';
import { signDocument } from '../trust/signing.ts';
import { encodeBase64url } from '../wire/base64url.ts';
import type { ActorKey } from './keys.ts';

export interface CommandDraft {
  readonly kind: CommandKind;
  readonly payload: Record<string, unknown>;
  readonly groupId?: string;
  /** Default: a fresh urn:uuid. Choose it yourself where a restart must send the same Command again. */
  readonly actionId?: string;
  /** Default: the Action ID, which starts a new thread of causes. */
  readonly correlationId?: string;
  readonly causedByEventId?: string;
  readonly conversationId?: string;
  readonly workItemId?: string;
  readonly expectedRevision?: number;
  readonly extensions?: Record<string, Extension>;
}

/** What the actor currently is in the Group; `Standing` learns it from Events. */
export interface Epochs {
  readonly sessionEpoch?: number;
  readonly membershipEpoch?: number;
  readonly coordinatorEpoch?: number;
}

export interface SignedCommand {
  readonly actionId: string;
  readonly kind: CommandKind;
  readonly document: SignedDocument<'command'>;
  readonly signingHash: string;
  /** Send these. */
  readonly bytes: Uint8Array;
}

/** Throws for a Command outside its schema: that is a bug of the caller and would be refused anyway. */
export function signCommand(
  key: ActorKey,
  draft: CommandDraft,
  epochs: Epochs = {},
  nowMillis = Date.now(),
): SignedCommand {
  const { payload, kind, actionId = `urn:uuid:${randomUUID()}`, ...envelope } = draft;
  const unsigned = withoutAbsent({
    correlationId: actionId,
    ...envelope,
    ...(carriesEpochs(kind, key) && epochs),
    protocolVersion: '0.1',
    actionId,
    actor: key.principal,
    kind,
    issuedAt: timestampFromMillis(nowMillis),
    payload: salted(payload),
  });
  const signed = signDocument('command', unsigned as UnsignedDocument<'command'>, key.signer);
  const { document, text, signingHash } = signed;
  return { actionId, kind, document, signingHash, bytes: Buffer.from(text, 'utf8') };
}

/** Services have no epochs, and who creates a Group has none in it yet; a Command that names one does not fit its schema. */
function carriesEpochs(kind: CommandKind, { principal }: ActorKey): boolean {
  return principal.type !== 'service' && kind !== 'mission.create' && kind !== 'mission.create_follow_up';
}

/** Without a salt the signing hash, which is public for ever, would let short texts be guessed (design section 8). */
function salted(payload: Record<string, unknown>): Record<string, unknown> {
  return { contentSalt: encodeBase64url(randomBytes(16)), ...payload };
}

function withoutAbsent<T extends object>(value: T): T {
  return Object.fromEntries(Object.entries(value).filter(([, member]) => member !== undefined)) as T;
}
