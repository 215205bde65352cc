import { defineTool, type Tool } from 'lanefold';

const object = (fields: Record<string, string>) => ({
  type: 'object' as const,
  properties: Object.fromEntries(
    Object.entries(fields).map(([name, description]) => [name, { type: 'string' as const, description }]),
  ),
  required: Object.keys(fields),
  additionalProperties: false,
});

/** What the shop has, by article and size; without a size one gets the smallest. */
const stock: Record<string, Record<string, number>> = {
  helmet: { S: 0, M: 4, L: 7 },
  jersey: { S: 0, M: 3, L: 2 },
  glove: { S: 0, M: 9, L: 6 },
};

const stockFields = { article: 'Such as helmet.', size: 'S, M or L.' };

export const stockTool = (fields: Partial<typeof stockFields> = stockFields): Tool =>
  defineTool<{ article: string; size?: string }>({
    name: 'stock',
    description: 'How many pieces of an article are in stock.',
    input: object(fields as Record<string, string>),
    execute: ({ article, size = 'S' }) => ({ article, size, pieces: stock[article]?.[size] ?? 0 }),
  });

const years: Record<string, number> = { frame: 10, battery: 2, motor: 3, fork: 5 };

export const warranty: Tool = defineTool<{ part: string }>({
  name: 'warranty',
  description: 'How many years the warranty of a part lasts.',
  input: object({ part: 'Such as frame.' }),
  execute: ({ part }) => ({ part, years: years[part] ?? 1 }),
});

export const manualTool = (description: string): Tool =>
  defineTool<{ part: string }>({
    name: 'manual',
    description,
    input: object({ part: 'Such as frame.' }),
    execute: ({ part }) => ({ part, passage: null }),
  });

export const order: Tool = defineTool<{ order: string }>({
  name: 'order',
  description: 'The parcel in which an order was sent.',
  input: object({ order: 'Such as B-20.' }),
  execute: ({ order: id }) => ({ order: id, parcel: id.replace('B', 'P') }),
});

const arrivals: Record<string, string> = { 'P-20': 'Friday', 'P-31': 'Monday', 'P-42': 'Tuesday', 'P-53': 'Thursday' };

export const parcel: Tool = defineTool<{ parcel: string }>({
  name: 'parcel',
  description: 'On which day a parcel arrives.',
  input: object({ parcel: 'Such as P-20.' }),
  execute: ({ parcel: id }) => ({ parcel: id, arrives: arrivals[id] ?? null }),
});
