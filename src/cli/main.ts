#!/usr/bin/env node
// The executable. Not process.exit: what was written to a pipe must arrive first.
import { mwp } from './mwp.ts';

process.exitCode = await mwp(process.argv.slice(2));
