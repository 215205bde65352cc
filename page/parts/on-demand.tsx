import type { ComponentType } from 'preact';
import { useEffect, useState } from 'preact/hooks';
import { Failure, Loading } from './basics.tsx';

/** A view whose code is loaded when it is first shown. */
export function onDemand(load: () => Promise<ComponentType>): ComponentType {
  let loaded: ComponentType | undefined;
  return function OnDemand() {
    const [View, setView] = useState<ComponentType | undefined>(() => loaded);
    const [error, setError] = useState<Error>();
    useEffect(() => {
      load().then((view) => setView(() => (loaded = view)), setError);
    }, []);
    if (View) return <View />;
    return error ? <Failure error={error} /> : <Loading />;
  };
}
