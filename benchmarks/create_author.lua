-- Each request creates a new author; the first argument is the first number.
local number

function init(arguments)
  number = tonumber(arguments[1])
end

function request()
  number = number + 1
  local body = string.format('{"user_id": %d, "username": "author %d"}', number, number)
  return wrk.format("POST", nil, {["Content-Type"] = "application/json"}, body)
end
