import { consoles } from '../../data/consoles.ts'
import { useStore } from '../../data/store.ts'
import { noConsoles } from '../../model/console-tabs.ts'
import { LazyPart } from '../lazy-part.tsx'

const load = async () => (await import('./dock.tsx')).Dock
const closeAll = (): void => consoles.set(noConsoles)

/** Consoles beside the page; their code is loaded with the first of them. */
export function ConsoleDock() {
  const { ids } = useStore(consoles)
  if (ids.length === 0) return null
  return <LazyPart load={load} name="The console" onMissing={closeAll} />
}
