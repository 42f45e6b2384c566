import './outside/replace.js'
import { declareMonths } from './months.js'

declareMonths(2)
