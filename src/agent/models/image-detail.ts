/** How closely an OpenAI model looks at an image: `provider_metadata.openai.imageDetail` of its part. */
export type Detail = 'low' | 'high' | 'original' | 'auto';

export const isDetail = (value: unknown): value is Detail =>
  value === 'low' || value === 'high' || value === 'original' || value === 'auto';
