# Amounts of money, as messages write them.
package gpuyard.lib.money

# Whole US dollars with thousands separators.
usd(amount) := grouped(round(amount))

grouped(dollars) := sprintf("%v USD", [dollars]) if dollars < 1000

else := sprintf("%v,%v USD", [floor(dollars / 1000), last_three(dollars)]) if dollars < 1000000

else := sprintf("%v,%v,%v USD", [floor(dollars / 1000000), last_three(floor(dollars / 1000)), last_three(dollars)])

last_three(dollars) := substring(sprintf("%v", [1000 + (dollars % 1000)]), 1, 3)
