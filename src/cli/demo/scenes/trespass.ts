// What strangers and forgers meet: a Group that is none of their business does not exist for them, and a Command is worth
// exactly what its signature is.

import { randomUUID } from 'node:crypto';
import { GroupReader } from '../../../worker/group-reader.ts';
import { messageOf } from './talk.ts';
import { answerOf, type Attempt, type Play } from '../play.ts';
import { canonicalBytes } from '../../../wire/canonical.ts';

export async function trespass(play: Play): Promise<void> {
  const { sid, ada, ben } = play.cast;
  await play.tell('Strangers and forgers', '', 'heading');

  const own = await new GroupReader(sid.client, play.groupId).events();
  const none = await new GroupReader(sid.client, `urn:uuid:${randomUUID()}`).events();
  await play.refusal(sid, { tries: 'to read this Group', meets: 'GROUP_NOT_FOUND' }, answerOf(own));
  const told = (outcome: typeof own) =>
    !outcome.ok && outcome.problem.kind === 'refused' ? [outcome.problem.status, outcome.problem.message] : outcome;
  play.checks.equal('A: a forbidden Group answers as one that does not exist', told(own), told(none));

  const epochs = { sessionEpoch: 1, membershipEpoch: 1 };
  const intrusion: Attempt = { tries: 'to send a Command into it', meets: 'GROUP_NOT_FOUND' };
  await play.mayNot(sid, intrusion, 'message.post', messageOf(play, 'Let me in'), { epochs });

  const genuine = ada.sign({ kind: 'message.post', groupId: play.groupId, payload: messageOf(play, 'Let him in') });
  const { document } = genuine;
  const forged = {
    ...document,
    payload: { ...document.payload, content: [{ type: 'text', text: 'Let them all in' }] },
  };
  const tampered = await ada.send({ ...genuine, bytes: canonicalBytes(forged) });
  const forgery: Attempt = { tries: 'a signed Command with one word changed', meets: 'AUTH_INVALID_SIGNATURE' };
  await play.refusal(ada, forgery, answerOf(tampered));

  const relayed = await ben.send(genuine);
  const relay: Attempt = { tries: `to send what ${ada.name} signed`, meets: 'AUTH_FORBIDDEN' };
  await play.refusal(ben, relay, answerOf(relayed));
}
