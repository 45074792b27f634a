// Makes the renditions of marked Events: right after the commit that marked them, and where one is missing still, when
// somebody is to get it. So a process that dies between the two leaves nothing undone.
import { randomUUID } from 'node:crypto';
import type { Event } from '../protocol/documents/event.ts';
import { eventKindOf } from '../domain/events/catalogue.ts';
import type { OrganizationId } from '../protocol/ids.ts';
import type { Principal } from '../protocol/principals.ts';
import { compareTimestamps } from '../protocol/timestamps.ts';
import type { AdmissionRow, AuthorityStore, EventRow, OrganizationRow, Reader } from '../store/port.ts';
import type { RenditionRow, WithheldRow } from '../store/port/withheld.ts';
import { admitOwn, type OwnAdmission } from '../trust/own-documents.ts';
import { signDocument, type Signer } from '../trust/signing.ts';
import { canonicalText } from '../wire/canonical.ts';
import { renditionStream, withoutTexts } from '../wire/rendition.ts';
import { RenditionsMissing } from './rendered.ts';

/** Made in one go, 0.5 ms each. */
const AT_ONCE = 100;
/** Of one read. A second round comes when something was marked between two of them. */
const ROUNDS_MAXIMUM = 4;

export interface RenditionParts {
  store: Pick<AuthorityStore, 'read' | 'recordRenditions' | 'organizations'>;
  signers: {
    /** Of the service's key that counts at this time. */
    signerOf(organization: OrganizationRow, service: Principal, time: string): Promise<Signer>;
  };
  /** A fresh `urn:uuid:` id. */
  newId?: () => string;
}

export class Renditions {
  private readonly parts: RenditionParts;
  private readonly newId: () => string;

  constructor(parts: RenditionParts) {
    this.parts = parts;
    this.newId = parts.newId ?? (() => `urn:uuid:${randomUUID()}`);
  }

  /** `store.read` for who delivers Events: makes what is missing and reads again. */
  async read<Result>(organizationId: OrganizationId, work: (reader: Reader) => Promise<Result>): Promise<Result> {
    for (let round = 1; ; round += 1) {
      try {
        return await this.parts.store.read(organizationId, work);
      } catch (error) {
        if (!(error instanceof RenditionsMissing) || round === ROUNDS_MAXIMUM) throw error;
        await this.make(error.organization, error.marks);
      }
    }
  }

  /** Right after the commit: as many as nobody waits long for. The others are made when they are asked for. */
  begin(organization: OrganizationRow, marks: readonly WithheldRow[]): Promise<void> {
    return this.make(organization, marks.slice(0, AT_ONCE));
  }

  /** Those that are there already stay. Throws where one cannot be made. */
  async make(organization: OrganizationRow, marks: readonly WithheldRow[]): Promise<void> {
    for (let at = 0; at < marks.length; at += AT_ONCE) await this.makeSome(organization, marks.slice(at, at + AT_ONCE));
  }

  private async makeSome(organization: OrganizationRow, marks: readonly WithheldRow[]): Promise<void> {
    const { store, signers } = this.parts;
    const { organizationId, authority } = organization;
    const { originals, due } = await store.read(organizationId, (reader) => originalsOf(reader, marks));
    if (due.length === 0) return;
    // A clock that was set back signs nothing before what ordered it.
    const times = [await store.organizations.now(), ...due.map(({ recordedAt }) => recordedAt)];
    const signedAt = times.reduce((latest, time) => (compareTimestamps(time, latest) > 0 ? time : latest));
    const signer = await signers.signerOf(organization, authority, signedAt);
    const evidence = await store.organizations.keyEvidence(organizationId, [signer.keyId]);
    const signing = { signedAt, signer, keyEvidence: async () => evidence };
    const made = await Promise.all(
      due.map((mark) => this.rendition(organization, mark, originals.get(mark.eventId), signing)),
    );
    await store.recordRenditions(organizationId, made);
  }

  private async rendition(
    { organizationId, authority }: OrganizationRow,
    mark: WithheldRow,
    row: EventRow | undefined,
    { signedAt, signer, keyEvidence }: Signing,
  ): Promise<{ rendition: RenditionRow; admission: AdmissionRow }> {
    if (!row || row.body === '') throw new Error(`the Event ${mark.eventId} is marked and has no body to render`);
    const original = JSON.parse(row.body) as Event;
    const { erasable } = eventKindOf(original.kind);
    const unsigned = withoutTexts(original, { erasable, signingHash: row.signingHash, occurredAt: signedAt, mark });
    const { text: body, signingHash } = signDocument('event', unsigned as never, signer);
    const record = await admitOwn('event', body, {
      organizationId,
      authority,
      keyId: signer.keyId,
      admissionRecordId: this.newId(),
      trustedAcceptedAt: signedAt,
      keyEvidence,
    });
    const { protocolVersion: _version, organizationId: _organization, ...columns } = record;
    const { groupId, position, eventId, cause } = mark;
    return {
      rendition: { groupId, position, eventId, cause, signingHash, keyId: signer.keyId, signedAt, body },
      admission: {
        ...columns,
        streamId: renditionStream(groupId),
        revision: position,
        record: canonicalText(record),
      },
    };
  }
}

/** `due`: those whose originals are gone have their renditions, or an erasure would not have taken them. */
async function originalsOf(
  reader: Pick<Reader, 'eventsById' | 'renditionRows'>,
  marks: readonly WithheldRow[],
): Promise<{ originals: ReadonlyMap<string, EventRow>; due: WithheldRow[] }> {
  const events = await reader.eventsById(marks.map(({ eventId }) => eventId));
  const originals = new Map(events.map((row) => [row.eventId, row]));
  const due: WithheldRow[] = [];
  for (const mark of marks) {
    const { groupId, position, cause } = mark;
    const isGone = originals.get(mark.eventId)?.body === '';
    const made = isGone ? await reader.renditionRows(groupId, position, position) : [];
    if (!made.some((rendition) => rendition.cause === cause)) due.push(mark);
  }
  return { originals, due };
}

interface Signing extends Pick<OwnAdmission, 'keyEvidence'> {
  signedAt: string;
  signer: Signer;
}

/** A store for transports: what they read, they may deliver. */
export function deliveringStore(store: AuthorityStore, parts: Omit<RenditionParts, 'store'>): AuthorityStore {
  const renditions = new Renditions({ store, ...parts });
  return { ...store, read: (organizationId, work) => renditions.read(organizationId, work) };
}
