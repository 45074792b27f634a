// Step 1 of design section 4, before any lock and without writing anything: the bytes become a verified Command with a
// typed payload and verified embedded documents, or a refusal with its protected diagnostic.
import { preparePayload, type Prepared } from '../domain/decide.ts';
import { commandKindOf } from '../domain/commands/catalogue.ts';
import type { Command } from '../domain/decider.ts';
import { refuse, type Refusal } from '../protocol/refusals.ts';
import type { RegistryEvidence } from '../trust/evidence.ts';
import type { Registry } from '../trust/registry.ts';
import { readDocument, verifyDocument, verifyRead, type Verified } from '../trust/verify.ts';
import { claimedNames } from './claimed-names.ts';
import type { FailedDocument } from './failed-document.ts';
import type { RefusedCommand } from './audit-entry.ts';
import type { StoreEvidence } from './registry-evidence.ts';

/** Signed Documents that one Command may carry; each costs a verification before anything is known of the sender. */
const DOCUMENTS_MAXIMUM = 64;

export interface PreparedCommand {
  verified: Verified<'command'>;
  /** The exact text received. */
  body: string;
  prepared: Prepared<unknown>;
  documents: PreparedDocument[];
  /** Of the tenant, as far as this process had it; good while its revision is the current one. */
  registry: Registry;
  /** The first embedded document that failed, if one did; told in its turn (C15). */
  documentFailure?: FailedDocument;
}

export interface PreparedDocument {
  path: string;
  verified: Verified;
}

export type Preparation = { ok: true; command: PreparedCommand } | ({ ok: false } & RefusedCommand);

export async function prepareCommand(
  organizationId: string,
  bytes: Uint8Array,
  evidence: StoreEvidence,
): Promise<Preparation> {
  const read = readDocument('command', { bytes });
  if (!read.ok) return { ok: false, refusal: read.refusal, failure: read, claimed: claimedNames(read.value) };
  const verified = await verifyRead('command', read.document, organizationId, evidence);
  const command = read.document as Command;
  if (!verified.ok) return { ok: false, refusal: verified.refusal, failure: verified, command };
  const kind = commandKindOf(command.kind);
  if (!kind) {
    return { ok: false, refusal: refuse('INVALID_COMMAND', 'this kind is not executed here'), command, verified };
  }
  const prepared = preparePayload(kind, command);
  const { documents, failure, refusal } = await verifyEmbedded(prepared, organizationId, evidence);
  if (refusal) prepared.documentRefusal = refusal;
  const current = await evidence.registry(organizationId);
  if (current.outcome !== 'established') throw new Error(`the Registry is ${current.outcome}: ${current.reason}`);
  return {
    ok: true,
    command: {
      verified,
      body: Buffer.from(bytes).toString('utf8'),
      prepared,
      documents,
      registry: current.registry,
      ...(failure && { documentFailure: failure }),
    },
  };
}

interface Embedded {
  documents: PreparedDocument[];
  failure?: FailedDocument;
  refusal?: Refusal;
}

/** All at once: they verify in the thread pool side by side. */
async function verifyEmbedded(
  { kind, payload }: Prepared<unknown>,
  organizationId: string,
  evidence: RegistryEvidence,
): Promise<Embedded> {
  if (!payload.ok || !kind.documents) return { documents: [] };
  const embedded = kind.documents(payload.value);
  if (embedded.length > DOCUMENTS_MAXIMUM) {
    return { documents: [], refusal: refuse('INVALID_COMMAND', `more than ${DOCUMENTS_MAXIMUM} Signed Documents`) };
  }
  const results = await Promise.all(
    embedded.map(async ({ path, kind: documentKind, value }) => ({
      path,
      kind: documentKind,
      value,
      verified: await verifyDocument(documentKind, { value }, organizationId, evidence),
    })),
  );
  const documents: PreparedDocument[] = [];
  for (const { path, kind: documentKind, value, verified } of results) {
    if (!verified.ok) {
      const names = verified.document ?? claimedNames(value);
      const failure = { path, kind: documentKind, failure: verified, names };
      return { documents: [], failure, refusal: verified.refusal };
    }
    documents.push({ path, verified });
  }
  return { documents };
}
