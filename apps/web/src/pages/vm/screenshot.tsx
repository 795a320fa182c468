import { useEffect, useState } from 'react'

import { pathOf } from '../../api/client.ts'
import type { VmDetails } from '../../model/vm.ts'
import { en } from '../../text/en.ts'

import style from './screenshot.module.css'

const REFRESH_MS = 10_000

/** The picture of the screen; a new address every few seconds, so that the browser loads it again. */
export function Screenshot({ vm }: { readonly vm: VmDetails }) {
  const [tick, setTick] = useState(0)
  useEffect(() => {
    const timer = setInterval(
      () => document.visibilityState === 'visible' && setTick((now) => now + 1),
      REFRESH_MS,
    )
    return () => clearInterval(timer)
  }, [])
  const hasScreen = vm.power === 'on' || vm.power === 'paused'
  if (vm.screenshotHref === undefined || !hasScreen)
    return <p className={style['dark']}>{en.powerMeaning[vm.power]}</p>
  return (
    <img
      className={style['screen']}
      src={`${pathOf(vm.screenshotHref)}?at=${tick}`}
      alt={`Screen of ${vm.name}`}
    />
  )
}
