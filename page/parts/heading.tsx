import { useEffect, useRef } from 'preact/hooks';
import { arrive } from '../state/arrival.ts';
import { clip } from './format.ts';

/** Longer questions are clipped in the title. */
const maxChars = 100;

/** The heading of a view and title of its browser tab: the title, then the id. */
export function Heading({ title, id }: { title: string; id?: string | undefined }) {
  const element = useRef<HTMLHeadingElement>(null);
  const line = title.trim().replace(/\s+/g, ' ');
  const clipped = clip(line, maxChars);
  useEffect(() => {
    document.title = [clipped, ...(id && id !== clipped ? [id] : []), 'Lanefold'].join(' · ');
  }, [clipped, id]);
  useEffect(() => arrive(element.current!), []);
  return (
    <h1 id="title" tabIndex={-1} ref={element} title={clipped === line ? undefined : line}>
      {clipped} {id && id !== clipped && <span class="id">{id}</span>}
    </h1>
  );
}
