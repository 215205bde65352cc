import { z } from 'zod';
import { noun } from '../../base/operations/operation.ts';
import { by, count, date, named, orNull } from '../../base/operations/schemas.ts';

const ModelId = z
  .string()
  .min(1)
  .max(200)
  .regex(/^[\w.:@/+-]+$/)
  .describe('The model, as `provider:model`.');

export const ListedCircuit = named(
  'Circuit',
  z
    .object({
      model: ModelId,
      state: z.enum(['closed', 'open', 'half_open']).meta({
        description: '`closed`: calls are made; `open`: they are held back; `half_open`: one of them probes.',
      }),
      calls: count('Calls of the window that were answered or say that the provider fails.', 40),
      failed: count('Calls of the window that say that the provider fails.', 3),
      reason: orNull(
        z.string().meta({
          description:
            'Why calls are held back: `overloaded`, `rate_limited`, `timeout`, `connection`, `auth`, or what the operator said.',
        }),
      ),
      openedAt: orNull(date('Since when calls are held back.')),
      openUntil: orNull(date('When a call may probe; null while it is open: not before it is closed by hand.')),
      openedBy: orNull(z.string().describe('Who opened it by hand; null: the workers.')),
      updatedAt: date('When a worker last counted, or when it last changed.'),
    })
    .meta({ doc: 'The circuit of a model: whether workers call it, and what they counted.' }),
);

export const CircuitOpening = named(
  'CircuitOpening',
  z
    .strictObject({
      reason: z.string().min(1).max(1_000).describe('Why, for the audit and for people who ask why runs wait.'),
      until: date('When a call may probe; default: not before it is closed by hand.').optional(),
    })
    .meta({ doc: 'Why the circuit of a model is opened by hand, and until when.', example: { reason: 'maintenance' } }),
);

const params = { model: ModelId };
const answer = { description: 'The circuit.', schema: ListedCircuit };

export const circuits = noun('circuits', 'Circuits', {
  list: {
    id: 'listCircuits',
    route: 'GET /v1/circuits',
    scope: 'read',
    about: 'nothing',
    everywhere: true,
    summary: 'List the circuits of models',
    description: 'A model has one once a worker has called it.',
    answer: {
      description: 'The circuits: those that are not closed first, then by model.',
      schema: z.array(ListedCircuit),
    },
  },
  open: {
    id: 'openCircuit',
    route: 'POST /v1/circuits/{model}/open',
    everywhere: true,
    summary: 'Open the circuit of a model by hand',
    description: 'No worker calls the model. Runs that would call it wait.',
    doc:
      'Opens the circuit of a model by hand: no worker calls the model, and runs that would call it wait.\n\n' +
      "@example\nawait lanefold.circuits.open('openai:gpt-5', { reason: 'maintenance' });",
    params,
    body: CircuitOpening,
    bodyName: 'opening',
    own: { by },
    answer,
    errors: ['invalid_input'],
  },
  close: {
    id: 'closeCircuit',
    route: 'POST /v1/circuits/{model}/close',
    everywhere: true,
    summary: 'Close the circuit of a model by hand',
    description: 'Its calls are made again and counted afresh, and the runs that waited continue.',
    params,
    own: { by },
    answer,
    errors: ['circuit_not_found'],
  },
});
