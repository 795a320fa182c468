import { Icon, type IconName } from '../../components/icon.tsx'
import type { Passage } from '../../model/networks/reach.ts'
import { en } from '../../text/en.ts'

import page from '../../styles/page.module.css'

const looks: Readonly<Record<Passage, readonly [tone: string, icon: IconName]>> = {
  open: ['good', 'check'],
  some: ['warn', 'warning'],
  blocked: ['bad', 'close'],
}

/** Whether packets pass, by colour, shape and word. */
export const PassageLabel = ({ passage }: { readonly passage: Passage }) => {
  const [tone, icon] = looks[passage]
  return (
    <span className={`${page['state']} ${page[tone]}`}>
      <Icon name={icon} size={14} />
      {en.passage[passage]}
    </span>
  )
}
