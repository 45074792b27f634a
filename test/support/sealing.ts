// The master key that tests serve with, and what it seals. Whoever proves a database afterwards needs the same one.
import { KeyVault } from '../../src/platform/key-vault.ts';
import { registrySeal } from '../../src/platform/registry-seal.ts';

export const MASTER_KEY = Buffer.alloc(32, 7);
export const { seal: sealRegistry, check: checkSeal } = registrySeal(new KeyVault(MASTER_KEY));
