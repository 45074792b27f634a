// What the description of the API begins with.
import { CHALLENGE_SECONDS } from '../auth/challenges.ts';
import { ERROR_CODES } from '../../protocol/refusals.ts';
import { ADVICE_OF_CODE } from '../advice.ts';
import { STATUS_OF_CODE } from '../statuses.ts';

const codes = ERROR_CODES.map((code) => {
  const { meaning, todo } = ADVICE_OF_CODE[code];
  return `| ${STATUS_OF_CODE[code]} | \`${code}\` | ${meaning} | ${todo} |`;
});

export const INTRODUCTION = `The API of a Group Authority for MissionWeaveProtocol 0.1.

**From nothing to a Command**

1. The operator makes an Organization (\`createOrganization\`) and registers people, services and Agents with their public
   keys (\`registerPrincipal\`, \`registerAgent\`).
2. Whoever holds a key asks for a challenge (\`askChallenge\`), signs the bytes that it decodes to within
   ${CHALLENGE_SECONDS} seconds, and gets a token (\`logIn\`). An Agent that will send Commands opens its session along
   with it.
3. Every change is a Command: a JSON document, signed by its actor over its RFC 8785 form without the member
   \`signature\`, sent as it is to \`submitCommand\`. The answer is a receipt and the Events that the Command caused.
4. Everything else reads. \`replayEvents\` gives the Events of a Group in their order, the lists give its state.

**Conventions**

JSON in UTF-8. A body needs \`Content-Type: application/json\`. Ids are absolute URIs, compared byte by byte; in a path they
stand percent-encoded. Times are RFC 3339. Nothing may be cached but this document. Every answer that is not a success
is the protocol’s error document (\`Error\`); a method that a path does not have is 405 with \`Allow\`, a path that does not
exist is 404 (below an Organization only for who holds a token of it, otherwise 401). \`HEAD\` works wherever \`GET\` does.

Where a description says that a document is *signed*, its bytes are exactly those that were signed and stored.

\`retryable: true\` in an error means that the identical bytes may succeed later. Nothing was changed by a request that
was refused.

<details><summary>All error codes, and what to do about them</summary>

| status | code | what happened | what to do |
| --- | --- | --- | --- |
${codes.join('\n')}

</details>
`;
