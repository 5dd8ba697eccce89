// The icons of the console, by their names at lucide.dev, and for `make vendor` what `icons.js` is made of.
export {
  ArrowDown, ArrowRight, ArrowUp, ArrowUpDown, Ban, Braces, Brush, Calendar, Check, ChevronLeft, ChevronRight,
  CircleAlert, CircleCheck, CircleUser, Copy, CopyPlus, Download, Ellipsis, ExternalLink, Eye, EyeOff, FileText,
  GitCompareArrows, Globe, Hash, History, Image, ImageOff, Inbox, KeyRound, Keyboard, LayoutDashboard, LayoutGrid,
  ListFilter, Lock, LogOut, Palette, Pencil, Plus, Power, PowerOff, RefreshCw, RotateCcw, Rows3, Search, SearchX,
  Settings2, ShieldCheck, Tag, Trash, TriangleAlert, Undo2, Upload, UserMinus, UserPlus, Users, Variable,
  WandSparkles, WifiOff, X,
} from "lucide";
