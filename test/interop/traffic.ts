// HTTP to the service under test, without our own client: plain requests, and answers read by the official strict parser.
import type { JsonObject, OfficialSdk } from './sdk.ts';

export interface Request {
  readonly method?: 'GET' | 'POST' | 'PUT';
  /** From `/v1` on. */
  readonly path: string;
  readonly token?: string;
  /** Bytes and texts go out as they are, anything else as JSON. */
  readonly body?: unknown;
  readonly contentType?: string;
}

export interface Answer {
  readonly request: string;
  readonly status: number;
  /** Exactly as it came. */
  readonly text: string;
  readonly body: JsonObject;
}

export class Traffic {
  /** Every answer that was an error, for the schema check of error documents. */
  readonly refusals: Answer[] = [];
  private readonly url: string;
  private readonly sdk: OfficialSdk;

  constructor(url: string, sdk: OfficialSdk) {
    this.url = url;
    this.sdk = sdk;
  }

  async send({ method, path, token, body, contentType = 'application/json' }: Request): Promise<Answer> {
    const verb = method ?? (body === undefined ? 'GET' : 'POST');
    const response = await fetch(this.url + path, {
      method: verb,
      headers: {
        ...(token !== undefined && { authorization: `Bearer ${token}` }),
        ...(body !== undefined && { 'content-type': contentType }),
      },
      ...(body !== undefined && { body: isRaw(body) ? body : JSON.stringify(body) }),
    });
    const bytes = new Uint8Array(await response.arrayBuffer());
    const answer: Answer = {
      request: `${verb} ${path.replaceAll(/urn%3A[^/?]*/g, '…')}`,
      status: response.status,
      text: Buffer.from(bytes).toString('utf8'),
      body: this.sdk.parseStrictJson(bytes) as JsonObject,
    };
    if (!response.ok) this.refusals.push(answer);
    return answer;
  }

  /** What must work for the run to have a stage at all. */
  async must(request: Request): Promise<JsonObject> {
    const answer = await this.send(request);
    if (answer.status >= 300) throw new Error(`${answer.request} answered ${answer.status}: ${answer.text}`);
    return answer.body;
  }
}

/** `accepted`, or the code of the error document. */
export function codeOf({ status, body }: Answer): string {
  return status === 200 || status === 201 ? 'accepted' : String(body['code']);
}

function isRaw(body: unknown): body is string | Uint8Array<ArrayBuffer> {
  return typeof body === 'string' || body instanceof Uint8Array;
}
