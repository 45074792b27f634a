// The description of the API as an outsider uses it: JSON Schema by a validator that knows nothing of ours. Only
// its notion of a URI is replaced: it refuses the empty path that RFC 3986 allows and the published bundle has.
import { Ajv2020 } from 'ajv/dist/2020.js';
import { fullFormats } from 'ajv-formats/dist/formats.js';
import { isUri } from '../../src/protocol/documents/uri.ts';
import type { OpenapiDocument, OperationObject } from '../../src/http/openapi/document.ts';

export interface DescribedOperation {
  /** In capitals. */
  method: string;
  /** With parameters in braces. */
  path: string;
  operation: OperationObject;
}

/** A body: where its schema stands in the document, and its example. */
export interface Content {
  pointer: string;
  example?: unknown;
}

interface AnswerObject {
  headers?: Record<string, unknown>;
  content?: Record<string, { example?: unknown }>;
}

export class Described {
  readonly document: OpenapiDocument;
  readonly operations: DescribedOperation[];
  private readonly ajv = new Ajv2020({ strict: false, validateSchema: false, formats: { ...fullFormats, uri: isUri } });

  constructor(document: unknown) {
    this.document = document as OpenapiDocument;
    this.ajv.addSchema(this.document, 'openapi');
    this.operations = Object.entries(this.document.paths).flatMap(([path, methods]) =>
      Object.entries(methods).map(([method, operation]) => ({ method: method.toUpperCase(), path, operation })),
    );
  }

  /** Faults of a value under the schema at that place of the document. Empty: it fits. */
  faults(pointer: string, value: unknown): string[] {
    const validate = this.ajv.getSchema(`openapi#${pointer}`);
    if (!validate) throw new Error(`no schema at ${pointer}`);
    return validate(value)
      ? []
      : (validate.errors ?? []).map(({ instancePath, message }) => `${instancePath} ${message}`);
  }

  knows(component: string): boolean {
    const { schemas } = this.document['components'] as { schemas: object };
    return Object.hasOwn(schemas, component);
  }

  component(name: string, value: unknown): string[] {
    return this.faults(pointerOf('components', 'schemas', name), value);
  }

  answerOf({ operation }: DescribedOperation, status: number): AnswerObject | undefined {
    return operation.responses[String(status)];
  }

  answerPointer({ method, path }: DescribedOperation, status: number, contentType: string): string {
    return pointerOf(
      'paths',
      path,
      method.toLowerCase(),
      'responses',
      String(status),
      'content',
      contentType,
      'schema',
    );
  }

  /** Request body first, then all answers. */
  contentsOf(described: DescribedOperation): Content[] {
    const { method, path, operation } = described;
    const at = ['paths', path, method.toLowerCase()];
    const bodies = Object.entries(operation.requestBody?.content ?? {}).map(([type, { example }]) => ({
      pointer: pointerOf(...at, 'requestBody', 'content', type, 'schema'),
      example: example,
    }));
    const answers = Object.keys(operation.responses).flatMap((status) =>
      Object.entries(this.answerOf(described, Number(status))?.content ?? {}).map(([type, { example }]) => ({
        pointer: this.answerPointer(described, Number(status), type),
        ...(example !== undefined && { example }),
      })),
    );
    return [...bodies, ...answers];
  }
}

function pointerOf(...names: string[]): string {
  return names.map((name) => `/${encodeURIComponent(name.replaceAll('~', '~0').replaceAll('/', '~1'))}`).join('');
}
