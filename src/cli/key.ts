// `mwp key generate`, `mwp key register` and `mwp key revoke`. A private key is written to a file or to the terminal of
// whoever made it, never sent anywhere.
import { randomUUID } from 'node:crypto';
import { writeFileSync } from 'node:fs';
import { newMasterKeyText } from '../platform/master-key.ts';
import { generateKeyPair } from '../trust/signing.ts';
import { encodeBase64url } from '../wire/base64url.ts';
import { principalIn } from './actor.ts';
import { CommandFault, DONE, print, printJson, readOptions, required, type CliCommand } from './command-line.ts';
import { URL_OPTION, WHERE_HELP, withOperator } from './operator-connection.ts';

/** Owner only: the file holds a private key. */
const KEY_FILE_MODE = 0o600;

export const keyGenerate: CliCommand = {
  name: 'key generate',
  summary: 'make an Ed25519 key for a principal, or a master key',
  help: `mwp key generate [--key-id URI] [--out FILE]
mwp key generate --master

  --key-id URI  the key id; a fresh urn:uuid when left out
  --out FILE    write { keyId, publicKey, seed } there, readable by you alone, and print the public part;
                without it everything is printed
  --master      print 32 fresh bytes in base64, for MWP_MASTER_KEY`,

  async run(args) {
    const options = readOptions(args, {
      'key-id': { type: 'string' },
      out: { type: 'string' },
      master: { type: 'boolean' },
    });
    if (options.master) {
      print(newMasterKeyText());
      return DONE;
    }
    const { seed, publicKey } = generateKeyPair();
    const keyId = options['key-id'] ?? `urn:uuid:${randomUUID()}`;
    const whole = { keyId, publicKey, seed: encodeBase64url(seed) };
    if (options.out !== undefined) writeKeyFile(options.out, whole);
    printJson(options.out === undefined ? whole : { keyId, publicKey });
    return DONE;
  },
};

export const keyRegister: CliCommand = {
  name: 'key register',
  summary: 'bind a public key to a principal, registering the principal if needed',
  help: `mwp key register --org SLUG --principal TYPE:URI --key-id URI --public-key KEY
                 [--name NAME] [--valid-from TIME] [--url URL]

  --org SLUG            the Organization
  --principal TYPE:URI  human:, agent: or service: and the principal's id
  --key-id URI          never used before in this Organization
  --public-key KEY      base64url of the 32 bytes
  --name NAME           registers the principal under this name if it is not there yet
  --valid-from TIME     RFC 3339; from now on when left out
${WHERE_HELP}`,

  async run(args) {
    const options = readOptions(args, {
      org: { type: 'string' },
      principal: { type: 'string' },
      'key-id': { type: 'string' },
      'public-key': { type: 'string' },
      name: { type: 'string' },
      'valid-from': { type: 'string' },
      ...URL_OPTION,
    });
    const slug = encodeURIComponent(required(options.org, '--org'));
    const principal = principalIn(required(options.principal, '--principal'));
    const key = {
      keyId: required(options['key-id'], '--key-id'),
      publicKey: required(options['public-key'], '--public-key'),
      ...(options['valid-from'] !== undefined && { validFrom: options['valid-from'] }),
    };
    const { name, url } = options;
    const answer = await withOperator(url, (operator) =>
      name === undefined
        ? operator.call('POST', `/organizations/${slug}/keys`, { principal, ...key })
        : operator.call('POST', `/organizations/${slug}/principals`, { principal, displayName: name, keys: [key] }),
    );
    printJson(answer);
    return DONE;
  },
};

export const keyRevoke: CliCommand = {
  name: 'key revoke',
  summary: 'end the validity of a key',
  help: `mwp key revoke --org SLUG --key-id URI [--at TIME] [--url URL]

  --org SLUG    the Organization
  --key-id URI  the key
  --at TIME     RFC 3339, with capital Z; now when left out. What the key signed before stays valid.
${WHERE_HELP}`,

  async run(args) {
    const options = readOptions(args, {
      org: { type: 'string' },
      'key-id': { type: 'string' },
      at: { type: 'string' },
      ...URL_OPTION,
    });
    const slug = encodeURIComponent(required(options.org, '--org'));
    const keyId = encodeURIComponent(required(options['key-id'], '--key-id'));
    const body = { revokedAt: options.at ?? new Date().toISOString() };
    const path = `/organizations/${slug}/keys/${keyId}/end`;
    printJson(await withOperator(options.url, (operator) => operator.call('POST', path, body)));
    return DONE;
  },
};

function writeKeyFile(path: string, key: { keyId: string; publicKey: string; seed: string }): void {
  try {
    writeFileSync(path, `${JSON.stringify(key, null, 2)}\n`, { mode: KEY_FILE_MODE, flag: 'wx' });
  } catch (error) {
    const exists = (error as NodeJS.ErrnoException).code === 'EEXIST';
    const why = exists ? 'it exists, and a key is never overwritten' : (error as Error).message;
    throw new CommandFault(`cannot write ${path}: ${why}`);
  }
}
