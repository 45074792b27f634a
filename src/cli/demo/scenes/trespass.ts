// What strangers and forgers meet: a Group that is none of their business does not exist for them, and a Command is worth
// exactly what its signature is.

import { randomUUID } from 'node:crypto';
import { GroupReader } from '../../../worker/group-reader.ts';
import { answerOf, type Play } from '../play.ts';
import { canonicalBytes } from '../../../wire/canonical.ts';

export async function trespass(play: Play): Promise<void> {
  const { sid, ada, ben } = play.cast;
  await play.tell('Strangers and forgers', '', 'heading');

  const own = await new GroupReader(sid.client, play.groupId).events();
  const none = await new GroupReader(sid.client, `urn:uuid:${randomUUID()}`).events();
  await play.refusal(sid.name, 'reads the Events of a Group that is not its own', 'GROUP_NOT_FOUND', answerOf(own));
  const told = (outcome: typeof own) =>
    !outcome.ok && outcome.problem.kind === 'refused' ? [outcome.problem.status, outcome.problem.message] : outcome;
  play.checks.equal('A: a forbidden Group answers as one that does not exist', told(own), told(none));

  const text = [{ type: 'text', text: 'let me in' }];
  const message = () => ({
    messageId: `urn:uuid:${randomUUID()}`,
    conversationId: play.conversationId,
    content: text,
  });
  await play.mayNot(sid, 'sends a Command into it', 'GROUP_NOT_FOUND', 'message.post', message(), {
    epochs: { sessionEpoch: 1, membershipEpoch: 1 },
  });

  const genuine = ada.sign({ kind: 'message.post', groupId: play.groupId, payload: message() });
  const { document } = genuine;
  const forged = { ...document, payload: { ...document.payload, content: [{ type: 'text', text: 'let me all in' }] } };
  const tampered = await ada.send({ ...genuine, bytes: canonicalBytes(forged) });
  await play.refusal(ada.name, 'one word of a signed Command changed', 'AUTH_INVALID_SIGNATURE', answerOf(tampered));

  const relayed = await ben.send(genuine);
  await play.refusal(ben.name, `sends what ${ada.name} signed`, 'AUTH_FORBIDDEN', answerOf(relayed));
}
