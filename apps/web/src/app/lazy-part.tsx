import { useEffect, useState, type ComponentType } from 'react'

import { PART_MISSING } from '../data/load-page.ts'
import { notify } from '../data/notifications.ts'

interface LazyPartProps {
  /** The same function each time. */
  readonly load: () => Promise<ComponentType>
  /** The name of the part in a message. */
  readonly name: string
  /** It did not load; a notification says so. */
  readonly onMissing: () => void
}

/** Parts that are loaded appear at once when they are needed again. */
const loaded = new WeakMap<LazyPartProps['load'], ComponentType>()

/** A part of the shell that few visits need. Where it is missing the page does not reload itself: a form may be half filled. */
export function LazyPart({ load, name, onMissing }: LazyPartProps) {
  const [Part, setPart] = useState<ComponentType | undefined>(() => loaded.get(load))
  useEffect(() => {
    if (loaded.has(load)) return undefined
    let isGone = false
    load().then(
      (part) => {
        loaded.set(load, part)
        if (!isGone) setPart(() => part)
      },
      () => {
        if (isGone) return
        notify({ tone: 'error', title: `${name} did not load`, description: PART_MISSING })
        onMissing()
      },
    )
    return () => {
      isGone = true
    }
  }, [load, name, onMissing])
  return Part ? <Part /> : null
}
