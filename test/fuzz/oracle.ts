// What every answer must keep to, whatever was asked. Each finding is a sentence; none is good.
import { STATUS_OF_CODE } from '../../src/http/statuses.ts';
import { checkDocument } from '../../src/protocol/documents/catalogue.ts';
import { parseStrictJson } from '../../src/wire/strict-json.ts';
import type { Expectation } from './cases.ts';

export interface Answer {
  status: number;
  headers: [name: string, value: string][];
  body: string;
}

export interface Question {
  /** Everything that was sent, as text: what an answer repeats of it is no leak. */
  sent: string;
  isHead: boolean;
  /** Names and texts of Organizations that the asker is no part of. */
  secrets: readonly string[];
  expect?: Expectation | undefined;
}

export interface Judged {
  findings: string[];
  /** Of the error document. */
  code?: string;
  /** A Command that was accepted just now, and how many Events it made. */
  accepted?: { events: number };
}

/** Beside the code's own: where HTTP itself has a word for it. */
const OTHER_STATUSES: Readonly<Record<string, readonly number[]>> = {
  PROTOCOL_VIOLATION: [404, 405, 413, 414, 415, 417, 431, 505],
  INTERNAL_ERROR: [408],
  INVALID_COMMAND: [404],
};
/** Whatever else an answer carries came from where it should not. */
const HEADERS = new Set([
  ...['cache-control', 'connection', 'content-length', 'content-type', 'date', 'keep-alive', 'retry-after'],
  ...['transfer-encoding', 'www-authenticate', 'x-content-type-options'],
  ...['accept', 'allow', 'content-security-policy', 'etag', 'referrer-policy', 'x-request-id'],
]);
const ANSWER_MAXIMUM = 16 * 1_024 * 1_024;
const ANSWER_DEPTH = 80;
const LEAKS = [
  /\bat .{0,200}[/\\][^ ]+:\d+:\d+/,
  /node_modules|\.ts:\d+|file:\/\//,
  /\bSQLSTATE\b|sqlite|postgres|\bSELECT .* FROM\b|\bINSERT INTO\b|\bpg_\w+/i,
  /\/tmp\/|\/home\/|\/root\//,
  /TypeError|RangeError|ReferenceError|\[object Object\]|Cannot read propert/,
];

export function judge(answer: Answer, question: Question): Judged {
  const { status, headers, body } = answer;
  const findings = [...headerFindings(headers), ...leakFindings(answer, question)];
  if (status >= 500) findings.push(`status ${status}: ${body.slice(0, 300)}`);
  if (body.length > ANSWER_MAXIMUM) findings.push(`an answer of ${body.length} characters`);
  if (status === 100 || (status >= 300 && status < 400)) {
    // Whoever has the description already and says so.
    const isKnown = status === 304 && /if-none-match/i.test(question.sent);
    if (status !== 100 && !isKnown) findings.push(`status ${status}`);
    return { findings };
  }
  if (question.expect === 'unauthorized' && ![400, 401, 404, 405, 413, 415, 429].includes(status))
    findings.push(`not refused: ${status}`);
  if (question.isHead) return { findings };
  if (status >= 400) return { ...errorFindings(answer, findings) };
  return successFindings(answer, question, findings);
}

function headerFindings(headers: Answer['headers']): string[] {
  const findings: string[] = [];
  for (const [name, value] of headers) {
    if (!HEADERS.has(name)) findings.push(`a header ${JSON.stringify(name)}: ${JSON.stringify(value.slice(0, 100))}`);
    if (name === 'x-request-id' && !/^[\w.:@=+-]{1,128}$/.test(value)) findings.push('an odd name of a request');
    if (!/^[\x20-\x7e]*$/.test(value)) findings.push(`the header ${name} holds control characters`);
  }
  return findings;
}

/** What is stored is shown as it was sent, so only a refusal is looked through for words of the machine. */
function leakFindings({ status, body }: Answer, { sent, secrets }: Question): string[] {
  const findings = secrets
    .filter((secret) => body.includes(secret) && !sent.includes(secret))
    .map((it) => `told of ${it}`);
  for (const leak of status < 400 ? [] : LEAKS) {
    const found = leak.exec(body)?.[0];
    if (found !== undefined && !sent.includes(found)) findings.push(`leaks ${JSON.stringify(found.slice(0, 100))}`);
  }
  return findings;
}

function errorFindings({ status, headers, body }: Answer, findings: string[]): Judged {
  const type = headers.find(([name]) => name === 'content-type')?.[1] ?? '';
  if (!type.startsWith('application/json')) findings.push(`an error of type ${JSON.stringify(type)}`);
  const json = parseStrictJson(Buffer.from(body, 'utf8'));
  if (!json.ok) return { findings: [...findings, `${status} without JSON (${json.fault}): ${body.slice(0, 200)}`] };
  const check = checkDocument('error', json.value);
  if (!check.valid) return { findings: [...findings, `no error document: ${check.fault} ${body.slice(0, 200)}`] };
  const { code } = check.document;
  const own = STATUS_OF_CODE[code];
  if (status !== own && !OTHER_STATUSES[code]?.includes(status)) findings.push(`${code} with status ${status}`);
  if ((status === 401) !== headers.some(([name]) => name === 'www-authenticate'))
    findings.push('401 and WWW-Authenticate');
  return { findings, code };
}

/** The page that shows the description, what Prometheus reads, and contents. */
const NO_JSON = /^(text\/(html|css|javascript|plain)|image\/png|application\/octet-stream)/;

function successFindings({ status, headers, body }: Answer, { expect }: Question, findings: string[]): Judged {
  if (NO_JSON.test(headers.find(([name]) => name === 'content-type')?.[1] ?? '')) return { findings };
  const json = parseStrictJson(Buffer.from(body, 'utf8'), { maxBytes: ANSWER_MAXIMUM, maxDepth: ANSWER_DEPTH });
  if (!json.ok) return { findings: [...findings, `${status} without JSON (${json.fault}): ${body.slice(0, 200)}`] };
  const value = json.value as { receipt?: { events?: unknown[] }; duplicate?: unknown } | null;
  if (value?.duplicate !== false || value.receipt === undefined) return { findings };
  if (expect === 'nothing-new') findings.push('accepted what was changed after it was signed');
  return { findings, accepted: { events: value.receipt.events?.length ?? 0 } };
}
