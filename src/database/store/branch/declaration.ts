import { z } from 'zod';
import { count, date, Id, named, orNull } from '../../../base/operations/schemas.ts';
import { RunReceipt } from '../run/declaration.ts';

const parentSeq = z
  .int()
  .nullable()
  .describe('The message that the first one of the branch follows; null: it is empty before.');

export const Branch = named(
  'Branch',
  z
    .object({
      contextRef: Id,
      parentContextRef: orNull(Id.describe('The lane that the branch left; null for a lane that is no branch.')),
      branchedAfterSeq: z.int().nullable().describe('The last entry whose context the branch has; -1: none.'),
      parentSeq,
      rootContextRef: Id.describe('The first lane of its tree.'),
      branchSeq: z.int().nullable().describe('The anchor with which the branch began.'),
      shown: z.boolean().describe('Whether it is the active lane of the thread.'),
      lastSeq: count('The last entry of the lane.', 4),
      createdAt: date('When the lane began.'),
    })
    .meta({ description: 'A lane, and where it left another one: a row of the view `lane_tree`.' }),
);

export const TreeMessage = named(
  'TreeMessage',
  z
    .object({
      seq: count('The entry of the message.', 5),
      contextRef: Id.describe('The lane on which it was written.'),
      role: z.string().meta({ example: 'user' }),
      runId: orNull(Id.describe('The run that wrote it.')),
      parentSeq: z.int().nullable().describe('The message before it, across branches; null: it is the first.'),
      siblings: count('How many messages follow the same one, itself included.', 3),
      place: count('Its place among them, from 1, in the order of the log.', 2),
    })
    .meta({ description: 'A message, the one before it and its siblings: a row of the view `message_tree`.' }),
);

export const BranchReceipt = named(
  'BranchReceipt',
  z
    .object({
      opId: Id,
      contextRef: Id.describe('The new lane.'),
      seq: count('Its anchor.', 9),
      parent: z.object({
        contextRef: Id.describe('The lane that it left.'),
        afterSeq: z.int().describe('The last entry whose context it has; -1: none.'),
        parentSeq,
      }),
      shown: z.boolean().describe('Whether it is the active lane now. While a run is active, it is shown later.'),
      duplicate: z.boolean().describe('The branch was made by an earlier request.'),
      run: orNull(RunReceipt.describe('The run on the branch.')),
    })
    .meta({ description: 'A new lane of a thread, and the run that was accepted with it.' }),
);
