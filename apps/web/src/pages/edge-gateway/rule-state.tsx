import { Icon } from '../../components/icon.tsx'

import page from '../../styles/page.module.css'

/** Whether a rule is in effect, by colour, shape and word. */
export const RuleState = ({ isOn }: { readonly isOn: boolean }) => (
  <span className={`${page['state']} ${isOn ? page['good'] : page['idle']}`}>
    <Icon name={isOn ? 'check' : 'close'} size={14} />
    {isOn ? 'Enabled' : 'Disabled'}
  </span>
)
