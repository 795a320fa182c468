import type { ReactNode } from 'react'

import { ApiError } from '../api/client.ts'
import { Button } from './button.tsx'

import style from './empty-state.module.css'

interface EmptyStateProps {
  readonly title: string
  readonly children: ReactNode
  /** How to get there on a terminal. */
  readonly commands?: ReactNode
}

/** Says what would be here, and how to get it. */
export const EmptyState = ({ title, children, commands }: EmptyStateProps) => (
  <div className={style['empty']}>
    <h2>{title}</h2>
    {children}
    {commands && <div className={style['lines']}>{commands}</div>}
  </div>
)

const titleOf = (error: Error): string => {
  if (!(error instanceof ApiError)) return 'Something went wrong'
  if (error.status === 0) return 'No answer'
  if (error.status === 403) return 'You are not allowed to see this'
  if (error.status === 404) return 'Not found'
  return 'The request failed'
}

interface ErrorStateProps {
  readonly error: Error
  readonly onRetry?: () => void
}

/** What the server answered, what to do next, and a way to ask again. */
export const ErrorState = ({ error, onRetry }: ErrorStateProps) => (
  <EmptyState title={titleOf(error)}>
    <p>
      {error.message}
      {error instanceof ApiError && error.hint !== undefined && <>. {error.hint}</>}
    </p>
    {onRetry && (
      <Button icon="restart" onClick={onRetry}>
        Try again
      </Button>
    )}
  </EmptyState>
)
