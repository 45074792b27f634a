// A Message that is redacted: what is delivered in its place is an Event for the official codec like any other, and fits the
// official schemas; so does the list, and so do the renditions of an exported Group.
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { RENDITION_EXTENSION } from '../../src/protocol/documents/rendition.ts';
import { readBundle, rowFaults } from './bundle.ts';
import { newId } from './drafts.ts';
import type { Group } from './group.ts';
import { declare } from './missions.ts';
import { mwp } from './mwp.ts';
import { schemaFaults } from './normative.ts';
import type { JsonObject } from './sdk.ts';
import { BASE, SLUG } from './stage.ts';

const SECRET = 'The customer is Quirinus — 昆里努斯';

export async function checkRedaction(group: Group): Promise<void> {
  const { stage, cast, groupId } = group;
  const { sdk, checks, traffic, registry, authority } = stage;
  await declare(group);
  const { conversationId } = group;
  const messageId = newId();
  const data = { type: 'data_ref', schema: 'https://interop.example/schemas/data', data: { name: SECRET } };
  const content = [{ type: 'text', text: SECRET }, data];
  const [posted] = await group.does(cast.cora, 'message.post', { messageId, conversationId, content });
  const correction = { amendmentId: newId(), messageId, reason: SECRET, replacementContent: SECRET };
  const [corrected] = await group.does(cast.cora, 'message.correct', correction);
  const redaction = { amendmentId: newId(), messageId, reason: 'It names a customer' };
  await group.does(cast.olga, 'message.redact', redaction);
  for (const original of [posted, corrected]) {
    if (original === undefined) throw new Error('an Event was answered');
    const path = `${BASE}/groups/${encodeURIComponent(groupId)}/events/${encodeURIComponent(String(original['eventId']))}`;
    const { text } = await traffic.send({ path, token: cast.cora.token });
    const { document, resolvedKey } = sdk.codec.verify('event', Buffer.from(text, 'utf8'), { resolve: () => registry });
    const { payload, extensions, eventId, sequence, kind } = document;
    const claim = `the rendition of ${String(kind)}`;
    checks.equal(
      `${claim} verifies, is canonical, by the Group Authority, of the same id and sequence, and without the words`,
      { text, signer: resolvedKey.principal, eventId, sequence, words: text.includes('Quirinus') },
      {
        text: sdk.canonicalizeJson(document),
        signer: authority,
        eventId: original['eventId'],
        sequence: original['sequence'],
        words: false,
      },
    );
    const { signature: _signature, ...unsigned } = original;
    const { data: standsFor } = (extensions as Record<string, { data: JsonObject }>)[RENDITION_EXTENSION] ?? {};
    checks.equal(
      `${claim} names the official hash of the original`,
      standsFor?.['signingHash'],
      sdk.sha256Identifier(sdk.canonicalizeJson(unsigned)),
    );
    const { message, amendment } = payload as JsonObject;
    checks.none(`${claim} holds a Message of the official schema`, [
      ...schemaFaults(sdk, 'message', message ?? amendment, 'message'),
    ]);
  }
  const path = `${BASE}/groups/${encodeURIComponent(groupId)}/conversations/${encodeURIComponent(conversationId)}/messages`;
  const { items } = await traffic.must({ path, token: cast.cora.token });
  const messages = items as readonly JsonObject[];
  checks.none(
    'the list of Messages with a redacted one fits the official schema',
    messages.flatMap(({ message }, at) => schemaFaults(sdk, 'message', message, `message ${at}`)),
  );
  await checkExported(group);
}

async function checkExported({ stage, groupId }: Group): Promise<void> {
  const { sdk, checks, folder, environment } = stage;
  const file = join(folder, 'redacted.ndjson');
  const exported = await mwp(['export', '--org', SLUG, '--group', groupId, '--out', file], environment);
  checks.mustEqual('a Group with a redacted Message is exported', exported.code, 0);
  const { rows, registry } = readBundle(sdk, await readFile(file, 'utf8'));
  const renditions = rows('rendition');
  checks.equal('its bundle holds both marks and both renditions', [rows('withheld').length, renditions.length], [2, 2]);
  checks.none(
    'the renditions in it verify with its own keys, official form and hash',
    renditions.flatMap((row) => rowFaults(sdk, 'event', row, registry)),
  );
  const proven = await mwp(['verify', '--bundle', file], {});
  checks.equal('mwp verify --bundle proves them with no database', [proven.code, proven.stderr], [0, '']);
}
