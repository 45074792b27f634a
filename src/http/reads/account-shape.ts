// A budget account as its readers get it: exact amounts, money in millionths of the currency.
import { z } from 'zod';
import { DIMENSIONS } from '../../domain/budget.ts';
import { currency, id, safeInteger, timestamp } from '../../protocol/documents/shapes.ts';
import { component } from '../openapi/components.ts';

const ofEach = <Schema extends z.ZodType>(schema: Schema) =>
  Object.fromEntries(DIMENSIONS.map((dimension) => [dimension, schema]));

const amounts = component('Amounts', z.strictObject(ofEach(safeInteger)));
const limits = component('Limits', z.strictObject(ofEach(safeInteger.optional())));

export const accountShape = component(
  'BudgetAccount',
  z.strictObject({
    accountId: z.string(),
    groupId: id,
    owner: z.strictObject({ type: z.enum(['mission', 'work_item']), id }),
    parentAccountId: z.string().optional(),
    currency: currency.optional(),
    limit: limits,
    allocated: amounts.meta({ description: 'Sum of the limits of the accounts directly below.' }),
    usage: amounts.meta({ description: 'Charged to this very account.' }),
    treeUsage: amounts
      .nullable()
      .meta({ description: 'With all accounts below; null when they are too many to add up in one answer.' }),
    remaining: z
      .strictObject(ofEach(safeInteger.nullable()))
      .meta({ description: 'What it can still charge or hand on; null for a dimension that it has not.' }),
    state: z.enum(['open', 'closed', 'released']),
    closedAt: timestamp.optional(),
  }),
);
