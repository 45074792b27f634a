// The service's log: one JSON line per happening on standard output. Lines carry tenant, Group and Action ID, never
// payloads, tokens or keys (style, habit 6); what could hold one by mistake is redacted by name.
import { pino, stdSerializers, type DestinationStream, type Logger as PinoLogger } from 'pino';

export type Logger = PinoLogger;

export const LOG_LEVELS = ['fatal', 'error', 'warn', 'info', 'debug', 'trace', 'silent'] as const;
export type LogLevel = (typeof LOG_LEVELS)[number];

/** The second line of defence: nothing logs these on purpose. */
const REDACTED = [
  'token',
  'authorization',
  'signature',
  'challengeSignature',
  'payload',
  'body',
  'seed',
  'sealed',
  'privateKey',
  'masterKey',
  'operatorToken',
];

export function createLogger(level: LogLevel, destination?: DestinationStream): Logger {
  const options = {
    level,
    base: { service: 'mwp-authority' },
    timestamp: () => `,"time":"${new Date().toISOString()}"`,
    redact: { paths: [...REDACTED, ...REDACTED.map((name) => `*.${name}`)], censor: '[redacted]' },
    // A driver's error can carry the parameters of its statement, so only these members of an error are written.
    serializers: { err: plainError },
  };
  return destination ? pino(options, destination) : pino(options);
}

function plainError(error: unknown) {
  if (!(error instanceof Error)) return { message: String(error) };
  const { type, message, stack } = stdSerializers.err(error);
  const cause = error.cause instanceof Error ? { cause: error.cause.message } : {};
  return { type, message, stack, ...cause };
}
