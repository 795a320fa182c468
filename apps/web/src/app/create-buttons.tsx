import { useNavigate } from 'react-router'

import { Button } from '../components/button.tsx'

import page from '../styles/page.module.css'

interface CreateButtonsProps {
  /** Such as Create VM. */
  readonly action: string
  /** Why it cannot be created now. */
  readonly unavailable: string | undefined
  /** The page of the list, which Cancel leads to. */
  readonly list: string
}

/** The buttons below the form of a page that creates something. */
export function CreateButtons({ action, unavailable, list }: CreateButtonsProps) {
  const navigate = useNavigate()
  return (
    <div className={page['tools']}>
      <Button type="submit" tone="primary" icon="plus" unavailable={unavailable}>
        {action}
      </Button>
      <Button tone="plain" onClick={() => void navigate(list)}>
        Cancel
      </Button>
    </div>
  )
}
